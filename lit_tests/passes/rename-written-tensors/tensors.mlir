// RUN: xrelay-opt --disable-verify --split-input-file -p rename-written-tensors %s | filecheck %s

// A tensor that a kernel has written is the kernel's result; its kill names the tensor itself.
//
// CHECK-LABEL: @written_then_read
// CHECK:         %[[T:.*]] = memory.alloc_tensor
// CHECK-NEXT:    %[[Y:.*]] = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%[[T]] : {{.*}})
// CHECK-NEXT:    %[[Z:.*]] = relay.exp %[[Y]]
// CHECK-NEXT:    memory.kill %[[T]]
// CHECK-NEXT:    func.return %[[Z]]
func.func @written_then_read(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %unnamed = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = relay.exp %t : (tensor<4xf32>) -> tensor<4xf32>
  memory.kill %t : tensor<4xf32>
  func.return %z : tensor<4xf32>
}
relay.prim_func @neg(%p: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative %p : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %n : tensor<4xf32>
}

// -----

// A tuple of tensors that are not written yet is built where it is used.
//
// CHECK-LABEL: @tuple_is_built_later
// CHECK-NOT:     relay.tuple
// CHECK:         %[[Y:.*]] = vm.invoke_tvm_op
// CHECK-NEXT:    %[[U:.*]] = relay.tuple %[[Y]], %x
// CHECK-NEXT:    func.return %[[U]]
func.func @tuple_is_built_later(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %u = relay.tuple %t, %x : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %unnamed = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %u : tuple<tensor<4xf32>, tensor<4xf32>>
}
relay.prim_func @neg(%p: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative %p : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %n : tensor<4xf32>
}

// -----

// A program that names results already stays as it is.
//
// CHECK-LABEL: @named_already
// CHECK:         %y = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}})
// CHECK-NEXT:    func.return %y
func.func @named_already(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
relay.prim_func @neg(%p: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative %p : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %n : tensor<4xf32>
}
