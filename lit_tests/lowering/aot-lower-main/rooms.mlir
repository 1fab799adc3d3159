// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'aot-lower-main{prefix=net}' %s

// What a caller has for a result are the bytes of that result, and its workspace is as large as
// stated: nothing lies beyond.
func.func private @k(memref<4xf32>) -> ()
func.func @main(%r: memref<?xi8> {memory.result = 0 : i64, memory.alignment = 64 : i64}) attributes {xrelay.entry = {function = {name = "main", params = [], results = [{name = "y", spec = {dtype = "float32", shape = [2 : i64]}}]}}} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{@main uses 16 bytes of the storage of result 'y', but a caller may have 8: plan-memory{lend-entries} makes storages that fit}}
  %y = memref.view %r[%c0][] : memref<?xi8> to memref<4xf32>
  func.call @k(%y) : (memref<4xf32>) -> ()
  func.return
}

// -----

func.func private @k(memref<4xf32>) -> ()
func.func private @callee(%w: memref<?xi8>) {
  %c64 = arith.constant 64 : index
  // expected-error @+1 {{@main uses 80 bytes of the workspace on cpu:0, but a caller may have 16}}
  %y = memref.view %w[%c64][] : memref<?xi8> to memref<4xf32>
  func.call @k(%y) : (memref<4xf32>) -> ()
  func.return
}
func.func @main(%w: memref<?xi8> {memory.workspace = array<i64>, memory.alignment = 64 : i64, memory.size = 16 : i64}) attributes {xrelay.entry = {function = {name = "main", params = [], results = []}}} {
  func.call @callee(%w) : (memref<?xi8>) -> ()
  func.return
}
