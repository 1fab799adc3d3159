// RUN: xrelay-opt -p 'aot-lower-main{prefix=net}' %s | filecheck %s

// Params are in one pool, each aligned; functions that read it, in calls too, get it.
//
// CHECK:         constants = [{name = "w.1", spec = {dtype = "uint8",{{.*}}}, offset = 0 : i64,{{.*}}{name = "v",{{.*}}, offset = 64 : i64,
// CHECK-SAME:    constant_pools = [{symbol = "constants", start = 0 : i64, size = 80 : i64, alignment = 64 : i64}]
// CHECK-NOT:     memref.global
// CHECK-LABEL: func.func private @leaf
// CHECK-SAME:    (%x: memref<4xf32>, %constants: memref<?xi8> {xrelay.constants})
// CHECK:         %[[C64:.*]] = arith.constant 64 : index
// CHECK:         memref.view %constants[%[[C64]]][] : memref<?xi8> to memref<4xf32>
// CHECK-LABEL: func.func public @net_main_flat
// CHECK-SAME:    %y: memref<4xi8> {{{.*}}}, %constants: memref<?xi8> {xrelay.constants}, %workspace
// CHECK:         func.call @leaf(%x, %constants)
// CHECK:         %[[C0:.*]] = arith.constant 0 : index
// CHECK:         memref.view %constants[%[[C0]]][] : memref<?xi8> to memref<4xi8>
builtin.module attributes {xrelay.params = {"w.1" = "uint8", v = "float32"}} {
  "memref.global"() <{sym_name = "w.1", type = memref<4xi8>, initial_value, sym_visibility = "private"}> {xrelay.param = "w.1"} : () -> ()
  "memref.global"() <{sym_name = "unused", type = memref<4xi8>, initial_value, sym_visibility = "private"}> {xrelay.param = "unused"} : () -> ()
  "memref.global"() <{sym_name = "v", type = memref<4xf32>, initial_value, sym_visibility = "private"}> {xrelay.param = "v"} : () -> ()
  func.func private @leaf(%x: memref<4xf32>) {
    %v = memref.get_global @v : memref<4xf32>
    "memref.copy"(%v, %x) : (memref<4xf32>, memref<4xf32>) -> ()
    func.return
  }
  func.func @main(%x: memref<4xf32>) -> memref<4xi8> attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "float32", shape = [4 : i64]}}], results = [{name = "y", spec = {dtype = "uint8", shape = [4 : i64]}}]}}} {
    func.call @leaf(%x) : (memref<4xf32>) -> ()
    %w = memref.get_global @w.1 : memref<4xi8>
    func.return %w : memref<4xi8>
  }
}
