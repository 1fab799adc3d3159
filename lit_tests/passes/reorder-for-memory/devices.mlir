// RUN: xrelay-opt -p reorder-for-memory --verify-diagnostics %s | filecheck %s

// The peak of each device counts by itself.
//
// CHECK-LABEL: func.func @devices
// CHECK:         %[[A:[a-z]+]] = vm.invoke_tvm_op @grow
// CHECK:         vm.invoke_tvm_op @shrink ins(%[[A]]
// CHECK:         vm.invoke_tvm_op @grow
//
// expected-remark@+1 {{peak of live bytes: from 576 to 384 bytes on cuda:0, stays 64 bytes on cpu:0, the least of any order}}
func.func @devices(%x: tensor<16xf32, #relay.device<cuda:0>>) -> tensor<16xf32, #relay.device<cpu:0>> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32, #relay.device<cuda:0>>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32, #relay.device<cuda:0>>) outs(%t_a : tensor<64xf32, #relay.device<cuda:0>>) -> tensor<64xf32, #relay.device<cuda:0>>
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32, #relay.device<cuda:0>>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32, #relay.device<cuda:0>>) outs(%t_b : tensor<64xf32, #relay.device<cuda:0>>) -> tensor<64xf32, #relay.device<cuda:0>>
  %s_c = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32, #relay.device<cuda:0>>
  %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32, #relay.device<cuda:0>>) outs(%t_c : tensor<16xf32, #relay.device<cuda:0>>) -> tensor<16xf32, #relay.device<cuda:0>>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32, #relay.device<cuda:0>>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32, #relay.device<cuda:0>>) outs(%t_d : tensor<16xf32, #relay.device<cuda:0>>) -> tensor<16xf32, #relay.device<cuda:0>>
  %s_e = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t_e = memory.alloc_tensor %s_e[0] : tensor<16xf32, #relay.device<cuda:0>>
  %e = vm.invoke_tvm_op @add ins(%c, %d : tensor<16xf32, #relay.device<cuda:0>>, tensor<16xf32, #relay.device<cuda:0>>) outs(%t_e : tensor<16xf32, #relay.device<cuda:0>>) -> tensor<16xf32, #relay.device<cuda:0>>
  %s_h = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t_h = memory.alloc_tensor %s_h[0] : tensor<16xf32, #relay.device<cpu:0>>
  %h = memory.copy ins(%e : tensor<16xf32, #relay.device<cuda:0>>) outs(%t_h : tensor<16xf32, #relay.device<cpu:0>>) -> tensor<16xf32, #relay.device<cpu:0>>
  func.return %h : tensor<16xf32, #relay.device<cpu:0>>
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
