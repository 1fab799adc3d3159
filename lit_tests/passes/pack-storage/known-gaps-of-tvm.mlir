// RUN: xrelay-opt --split-input-file -p pack-storage,layout-slices,expand-packs %s | filecheck %s

// What TVM's planners for the virtual machine do not do, or would need to know.

// Bytes of a dead tensor are used again: a chain of three needs room for two (TVM's regions give
// each tensor its own bytes until the region ends).
//
// CHECK-LABEL: func.func @overlap_in_time
// CHECK-NEXT:    %[[ARENA:.*]] = memory.alloc_storage 80 align 64
// CHECK-NEXT:    memory.alloc_tensor %[[ARENA]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
// CHECK:         memory.alloc_tensor %[[ARENA]][0]
func.func @overlap_in_time(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  %s_c = memory.alloc_storage 16 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<4xf32>
  %c = memory.copy ins(%b : tensor<4xf32>) outs(%t_c : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Dynamic sizes are planned: a chain of three needs room for two (TVM plans constant sizes only).
//
// CHECK-LABEL: func.func @dynamic_sizes
// CHECK:         %[[N:.*]] = arith.maxsi
// CHECK:         %[[TOTAL:.*]] = arith.addi %[[N]], %[[N]]
// CHECK:         memory.alloc_storage %[[TOTAL]] align 64
// CHECK-NOT:     memory.alloc_storage
// CHECK:         func.return
func.func @dynamic_sizes(%x: tensor<?xf32>, %n: i64, %dims: tensor<1xi64>) {
  %c64 = arith.constant 64 : i64
  %size = arith.muli %n, %c64 : i64
  %s_a = memory.alloc_storage %size align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t_a : tensor<?xf32>) -> tensor<?xf32>
  %s_b = memory.alloc_storage %size align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %b = memory.copy ins(%a : tensor<?xf32>) outs(%t_b : tensor<?xf32>) -> tensor<?xf32>
  %s_c = memory.alloc_storage %size align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %c = memory.copy ins(%b : tensor<?xf32>) outs(%t_c : tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

// A view of a tuple's field keeps the bytes: %b, which is written while the view is in use, lies
// elsewhere.
//
// CHECK-LABEL: func.func @views_and_tuples
// CHECK:         memory.alloc_tensor %[[ARENA:.*]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
func.func @views_and_tuples(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %p = relay.tuple %a : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  %q = relay.tuple_get_item %p[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %v = vm.reshape_tensor %q : (tensor<4xf32>) -> tensor<2x2xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%x : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  %n = vm.shape_of %v : (tensor<2x2xf32>) -> tensor<2xi64>
  func.return
}

// -----

// What data holds is in use while the data is.
//
// CHECK-LABEL: func.func @data
// CHECK:         memory.alloc_tensor %[[ARENA:.*]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
relay.type_data @Box [@Box(tensor<4xf32>), @Empty()]
func.func @data(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %l = relay.construct @Box(%a) : (tensor<4xf32>) -> !relay.adt<@Box, []>
  relay.match %l : !relay.adt<@Box, []> -> () {
    case @Box::@Box(%h: tensor<4xf32>) {
      %s_b = memory.alloc_storage 16 align 64 : !memory.storage
      %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
      %b = memory.copy ins(%x : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
      %n = vm.shape_of %h : (tensor<4xf32>) -> tensor<1xi64>
      relay.yield
    }
    case _ {
      relay.yield
    }
  }
  func.return
}

// -----

// What a cell holds is in use while the cell is.
//
// CHECK-LABEL: func.func @cells
// CHECK:         memory.alloc_tensor %[[ARENA:.*]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
func.func @cells(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %r = relay.ref_create %a : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %v = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%x : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  %n = vm.shape_of %v : (tensor<4xf32>) -> tensor<1xi64>
  func.return
}

// -----

// What a closure captures is in use while the closure is.
//
// CHECK-LABEL: func.func @closures
// CHECK:         memory.alloc_tensor %[[ARENA:.*]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
func.func @closures(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %f = relay.fn () -> tensor<4xf32> {
    relay.yield %a : tensor<4xf32>
  }
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%x : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  %y = relay.call %f() : () -> tensor<4xf32>
  func.return
}

// -----

// What a branch may yield is in use while its result is.
//
// CHECK-LABEL: func.func @merges
// CHECK:         memory.alloc_tensor %[[ARENA:.*]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
func.func @merges(%c0: tensor<i1>, %x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c0 : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %a : tensor<4xf32>
  } else {
    %k = relay.constant dense<1.0> : tensor<4xf32>
    relay.yield %k : tensor<4xf32>
  }
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%x : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  %n = vm.shape_of %r : (tensor<4xf32>) -> tensor<1xi64>
  func.return
}

// -----

// What a callee may return is in use while the result of the call is.
//
// CHECK-LABEL: func.func @arguments
// CHECK:         memory.alloc_tensor %[[ARENA:.*]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
func.func @arguments(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %r = func.call @same(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%x : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  %n = vm.shape_of %r : (tensor<4xf32>) -> tensor<1xi64>
  func.return
}
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

// A copy is never another name, even on one device: its source's bytes are free after it.
//
// CHECK-LABEL: func.func @copies
// CHECK-NEXT:    %[[ARENA:.*]] = memory.alloc_storage 80 align 64 : !memory.storage<#cpu0>
// CHECK:         memory.alloc_tensor %[[ARENA]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
// CHECK:         memory.alloc_tensor %[[ARENA]][0]
// CHECK:         vm.shape_of
func.func @copies(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32, #relay.device<cpu:0>>
  %a = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t_a : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32, #relay.device<cpu:0>>
  %b = memory.copy ins(%a : tensor<4xf32, #relay.device<cpu:0>>) outs(%t_b : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %s_c = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t_c = memory.alloc_tensor %s_c[0] : tensor<4xf32, #relay.device<cpu:0>>
  %c = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t_c : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %n = vm.shape_of %b : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<1xi64>
  func.return
}

// -----

// Results outlive the call, so they are not in the arena, and constants have no storage at all.
//
// CHECK-LABEL: func.func @results_and_constants
// CHECK-NEXT:    %[[K:.*]] = relay.constant
// CHECK-NEXT:    %[[ARENA:.*]] = memory.alloc_storage 80 align 64
// CHECK:         %[[R:.*]] = memory.alloc_storage 16 align 64
// CHECK-NEXT:    memory.alloc_tensor %[[R]][0]
// CHECK-NOT:     memory.alloc_storage
// CHECK:         func.return
func.func @results_and_constants() -> tensor<4xf32> {
  %k = relay.constant dense<1.0> : tensor<4xf32>
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%k : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  %s_r = memory.alloc_storage 16 align 64 : !memory.storage
  %t_r = memory.alloc_tensor %s_r[0] : tensor<4xf32>
  %r = memory.copy ins(%b : tensor<4xf32>) outs(%t_r : tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
