// RUN: xrelay-opt --split-input-file -p manifest-lifetimes %s | filecheck %s

// Bytes die with the last of their names, and are killed under the name that is defined last: here a
// view of a view.
//
// CHECK-LABEL: func.func @views
// CHECK:         %[[V:[a-z0-9]+]] = vm.reshape_tensor
// CHECK-NEXT:    %[[W:[a-z0-9]+]] = vm.reshape_tensor %[[V]]
// CHECK-NEXT:    "test.op"(%[[Y:[a-z0-9]+]])
// CHECK-NEXT:    "test.op"(%[[W]])
// CHECK-NEXT:    memory.kill %[[W]]
// CHECK-NEXT:    func.return
func.func @views() {
  %y = "test.op"() : () -> tensor<4xf32>
  %v = vm.reshape_tensor %y : (tensor<4xf32>) -> tensor<2x2xf32>
  %w = vm.reshape_tensor %v : (tensor<2x2xf32>) -> tensor<4x1xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  "test.op"(%w) : (tensor<4x1xf32>) -> ()
  func.return
}

// -----

// A tuple keeps its fields alive, a projection the tuple.
//
// CHECK-LABEL: func.func @tuples
// CHECK:         %[[P:[a-z0-9]+]] = relay.tuple_get_item
// CHECK-NEXT:    "test.op"(%[[P]])
// CHECK-NEXT:    memory.kill %[[P]]
// CHECK-NEXT:    func.return
func.func @tuples() {
  %a = "test.op"() : () -> tensor<4xf32>
  %b = "test.op"() : () -> tensor<4xf32>
  %t = relay.tuple %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %p = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  "test.op"(%p) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// What is in a cell lives as long as the cell, and so does what is written into it.
//
// CHECK-LABEL: func.func @cells
// CHECK:         %[[U:[a-z0-9]+]] = relay.ref_write
// CHECK-NEXT:    %[[R:[a-z0-9]+]] = relay.ref_read
// CHECK-NEXT:    "test.op"(%[[R]])
// CHECK-NEXT:    memory.kill %[[R]]
// CHECK-NEXT:    func.return
func.func @cells() {
  %a = "test.op"() : () -> tensor<4xf32>
  %b = "test.op"() : () -> tensor<4xf32>
  %c = relay.ref_create %a : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %u = relay.ref_write %c, %b : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  %r = relay.ref_read %c : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  "test.op"(%r) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// Bytes that a returned tuple, closure, cell or value of a data type holds are not killed.
//
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     memory.kill

relay.type_data @Box [@Box(tensor<4xf32>)]
func.func @returned() -> (tuple<tensor<4xf32>>, (tensor<4xf32>) -> tensor<4xf32>, !relay.ref<tensor<4xf32>>, !relay.adt<@Box, []>) {
  %a = "test.op"() : () -> tensor<4xf32>
  %b = "test.op"() : () -> tensor<4xf32>
  %c = "test.op"() : () -> tensor<4xf32>
  %d = "test.op"() : () -> tensor<4xf32>
  %t = relay.tuple %a : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  %f = relay.fn (%x: tensor<4xf32>) -> tensor<4xf32> {
    relay.yield %b : tensor<4xf32>
  }
  %r = relay.ref_create %c : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %k = relay.construct @Box(%d) : (tensor<4xf32>) -> !relay.adt<@Box, []>
  func.return %t, %f, %r, %k : tuple<tensor<4xf32>>, (tensor<4xf32>) -> tensor<4xf32>, !relay.ref<tensor<4xf32>>, !relay.adt<@Box, []>
}

// -----

// A copy has bytes of its own, even on the same device: the source dies after it.
//
// CHECK-LABEL: func.func @copies
// CHECK:         %[[Y:.*]] = memory.copy
// CHECK-NEXT:    memory.kill %[[A:.*]] :
// CHECK-NEXT:    "test.op"(%[[Y]])
// CHECK-NEXT:    memory.kill %[[Y]]
// CHECK-NEXT:    func.return
func.func @copies() {
  %a = "test.op"() : () -> tensor<4xf32>
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%a : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// A result that is written over an operand takes over its bytes, also in other slices of a storage.
//
// CHECK-LABEL: func.func @over_a_slice
// CHECK:         vm.invoke_tvm_op @f ins(%x
// CHECK-NOT:     memory.kill
// CHECK:         %[[Z:[a-z0-9]+]] = vm.invoke_tvm_op @f
// CHECK-NEXT:    memory.kill %[[Z]]
// CHECK-NOT:     memory.kill
func.func @over_a_slice(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 64 align 16 : !memory.storage
  %a = memory.slice_storage %s[16] size 32 align 16 : !memory.storage
  %t = memory.alloc_tensor %a[16] : tensor<4xf32>
  %y = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %b = memory.slice_storage %s[32] size 16 align 16 : !memory.storage
  %u = memory.alloc_tensor %b[0] : tensor<4xf32>
  %z = vm.invoke_tvm_op @f ins(%y : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %x : tensor<4xf32>
}
