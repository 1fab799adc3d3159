// RUN: xrelay-opt -p 'plan-memory{reorder=true in-place=false}' %s 2>/dev/null | filecheck %s

// Ops are reordered before lifetimes are read, so that two large tensors share bytes.
//
// CHECK-LABEL: func.func @reordered
// CHECK-NEXT:    %[[ARENA:.*]] = memory.alloc_storage 384 align 64
// CHECK:         %[[A:.*]] = memory.alloc_tensor %[[ARENA]][0] : tensor<64xf32>
// CHECK:         %[[B:.*]] = memory.alloc_tensor %[[ARENA]][0] : tensor<64xf32>
func.func @reordered(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
  %s_c = memory.alloc_storage 64 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32>
  %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32>) outs(%t_c : tensor<16xf32>) -> tensor<16xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
  %s_e = memory.alloc_storage 64 align 64 : !memory.storage
  %t_e = memory.alloc_tensor %s_e[0] : tensor<16xf32>
  %e = vm.invoke_tvm_op @add ins(%c, %d : tensor<16xf32>, tensor<16xf32>) outs(%t_e : tensor<16xf32>) -> tensor<16xf32>
  func.return %e : tensor<16xf32>
}

relay.prim_func @grow(%x: tensor<16xf32>) -> tensor<64xf32> {
  %y = relay.tile %x {reps = array<i64: 4>} : (tensor<16xf32>) -> tensor<64xf32>
  relay.yield %y : tensor<64xf32>
}
relay.prim_func @shrink(%x: tensor<64xf32>) -> tensor<16xf32> {
  %y = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 16>, strides = array<i64: 1>} : (tensor<64xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @add(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.add %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  relay.yield %z : tensor<16xf32>
}
