// RUN: xrelay-opt -p 'aot-lower-main{prefix=net}' %s | filecheck %s

// Params are where `place-constants` put them; each pool is a parameter.
//
// CHECK:         constants = [{name = "w",{{.*}}}, offset = 0 : i64, size = 16 : i64, pool = 1 : i64}, {name = "v",{{.*}}}, offset = 0 : i64, size = 16 : i64}]
// CHECK-SAME:    constant_pools = [{symbol = "constants_itcm", start = 0 : i64, size = 16 : i64, alignment = 64 : i64, section = ".rodata.itcm", place = "cpu:0/itcm", capacity = 20 : i64},
// CHECK-SAME:    {symbol = "constants_flash", start = 64 : i64, size = 16 : i64, alignment = 64 : i64, section = ".rodata.flash", place = "cpu:0/flash"}]
// CHECK-LABEL: func.func private @leaf
// CHECK-SAME:    %constants_itcm: memref<?xi8> {xrelay.constants = "cpu:0/itcm"}, %constants_flash: memref<?xi8> {xrelay.constants = "cpu:0/flash"})
// CHECK:         memref.view %constants_itcm
// CHECK:         memref.view %constants_flash
// CHECK-LABEL: func.func public @net_main_flat
// CHECK-SAME:    %constants_itcm: memref<?xi8> {xrelay.constants = "cpu:0/itcm"}, %constants_flash: memref<?xi8> {xrelay.constants = "cpu:0/flash"}
// CHECK:         func.call @leaf(%x, %{{.*}}, %constants_itcm, %constants_flash)
#itcm = #relay.device<cpu:0, scope = "itcm">
#flash = #relay.device<cpu:0, scope = "flash">
builtin.module attributes {memory.constant_pools = [#memory.pool<#itcm, capacity 20, cost 1, align 1>, #memory.pool<#flash, cost 5, align 1>], xrelay.params = {w = "float32", v = "float32"}} {
  "memref.global"() <{sym_name = "w", type = memref<4xf32>, initial_value, sym_visibility = "private"}> {xrelay.param = "w", memory.pool = 1 : i64, memory.offset = 0 : i64} : () -> ()
  "memref.global"() <{sym_name = "v", type = memref<4xf32>, initial_value, sym_visibility = "private"}> {xrelay.param = "v", memory.pool = 0 : i64, memory.offset = 0 : i64} : () -> ()
  func.func private @leaf(%x: memref<4xf32>, %y: memref<4xf32>) {
    %v = memref.get_global @v : memref<4xf32>
    %w = memref.get_global @w : memref<4xf32>
    "memref.copy"(%v, %x) : (memref<4xf32>, memref<4xf32>) -> ()
    "memref.copy"(%v, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    "memref.copy"(%w, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    func.return
  }
  func.func @main(%x: memref<4xf32>) -> memref<4xf32> attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "float32", shape = [4 : i64]}}], results = [{name = "y", spec = {dtype = "float32", shape = [4 : i64]}}]}}} {
    %t = memref.alloc() : memref<4xf32>
    func.call @leaf(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()
    func.return %t : memref<4xf32>
  }
}
