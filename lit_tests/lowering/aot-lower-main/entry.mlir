// RUN: xrelay-opt --split-input-file -p 'aot-lower-main{prefix=net}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'aot-lower-main{prefix=net}' %s | filecheck %s --check-prefix=META

// The parameters are inputs, outputs and the workspace; a result is written in place.
//
// CHECK-LABEL: func.func public @net_main_flat
// CHECK-SAME:    (%x: memref<4xf32> {xrelay.name = "x"},
// CHECK-SAME:    %y: memref<4xf32> {xrelay.name = "y", xrelay.output = 0 : i64},
// CHECK-SAME:    %workspace: memref<?xi8> {xrelay.workspace = "cpu:0", memory.alignment = 64 : i64, memory.size = 16 : i64})
// CHECK-SAME:    attributes {llvm.emit_c_interface, xrelay.io_used_memory = 32 : i64, xrelay.workspace_memory = 16 : i64}
// CHECK:         %[[T:.*]] = memref.view %workspace
// CHECK:         func.call @k(%x, %[[T]])
// CHECK:         func.call @k(%[[T]], %y)
// CHECK-NEXT:    func.return
// META:        params = [{name = "x", spec = {dtype = "float32",
// META-SAME:   symbol = "net_main"
// META-SAME:   pools = [{symbol = "workspace",{{.*}}size = 16 : i64, alignment = 64 : i64}], io = 32 : i64
func.func private @k(memref<4xf32>, memref<4xf32>) -> ()
func.func @main(%x: memref<4xf32>, %r: memref<?xi8> {memory.result = 0 : i64, memory.alignment = 64 : i64}, %w: memref<?xi8> {memory.workspace = array<i64>, memory.alignment = 64 : i64, memory.size = 16 : i64}) attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "float32", shape = [4 : i64]}}], results = [{name = "y", spec = {dtype = "float32", shape = [4 : i64]}}]}}} {
  %c0 = arith.constant 0 : index
  %t = memref.view %w[%c0][] : memref<?xi8> to memref<4xf32>
  func.call @k(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()
  %y = memref.view %r[%c0][] : memref<?xi8> to memref<4xf32>
  func.call @k(%t, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}

// -----

// A parameter is copied to each output that returns it.
//
// CHECK-LABEL: func.func public @net_main_flat
// CHECK-SAME:    (%x: memref<4xf32> {xrelay.name = "x"}, %a: memref<4xf32> {{{.*}}}, %b: memref<4xf32> {{{.*}}},
// CHECK-DAG:     memref.copy %x, %a
// CHECK-DAG:     memref.copy %x, %b
func.func @main(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "float32", shape = [4 : i64]}}], results = [{name = "a", spec = {dtype = "float32", shape = [4 : i64]}}, {name = "b", spec = {dtype = "float32", shape = [4 : i64]}}]}}} {
  func.return %x, %x : memref<4xf32>, memref<4xf32>
}

// -----

// Names that collide once they are names of C are numbered; names that are fine are kept.
//
// CHECK-LABEL: func.func public @net_main_flat
// CHECK-SAME:    {xrelay.name = "a:b"}
// CHECK-SAME:    {xrelay.name = "a_b"}
// CHECK-SAME:    %int_: memref<f32> {xrelay.name = "int", xrelay.output = 0 : i64}
// META:        params = [{name = "a:b",{{.*}}{name = "a_b"
// META-SAME:   names = ["a_b_1", "a_b", "int_"]
func.func @main(%x: memref<f32>, %y: memref<f32>) -> memref<f32> attributes {xrelay.entry = {function = {name = "main", params = [{name = "a:b", spec = {dtype = "float32", shape = []}}, {name = "a_b", spec = {dtype = "float32", shape = []}}], results = [{name = "int", spec = {dtype = "float32", shape = []}}]}}} {
  func.return %y : memref<f32>
}

// -----

// What a function allocated for a result is not allocated: it is the output.
//
// CHECK-LABEL: func.func public @net_main_flat
// CHECK-NOT:     memref.alloc
// CHECK:         func.call @k(%x, %y)
func.func private @k(memref<4xf32>, memref<4xf32>) -> ()
func.func @main(%x: memref<4xf32>) -> memref<4xf32> attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "float32", shape = [4 : i64]}}], results = [{name = "y", spec = {dtype = "float32", shape = [4 : i64]}}]}}} {
  %t = memref.alloc() : memref<4xf32>
  func.call @k(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return %t : memref<4xf32>
}

// -----

// A function that is called from inside stays as it is; its entry is a copy.
//
// CHECK-LABEL: func.func private @main(%x: memref<4xf32>) -> memref<4xf32>
// CHECK:         func.call @main
// CHECK-LABEL: func.func public @net_main_flat
// CHECK:         %[[Y:.*]] = func.call @main(%x)
// CHECK:         memref.copy %[[Y]], %y
func.func @main(%x: memref<4xf32>) -> memref<4xf32> attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "float32", shape = [4 : i64]}}], results = [{name = "y", spec = {dtype = "float32", shape = [4 : i64]}}]}}} {
  %t = func.call @main(%x) : (memref<4xf32>) -> memref<4xf32>
  func.return %t : memref<4xf32>
}
