// RUN: xrelay-opt -p 'assign-pools{pools="fast=1KiB:1,slow=:10"}' %s | filecheck %s

// Slices of a storage are in its pool.
//
// CHECK:      %joined = memory.alloc_storage 128 align 64 : !memory.storage<#cpu0_fast>
// CHECK-NEXT: memory.slice_storage %joined[0] size 64 align 64 : !memory.storage<#cpu0_fast>
// CHECK:      memory.slice_storage %joined[64] size 64 align 64 : !memory.storage<#cpu0_fast>
#cpu0 = #relay.device<cpu:0>
func.func @join(%x: tensor<16xf32, #cpu0>) -> tensor<32xf32, #cpu0> {
  %joined = memory.alloc_storage 128 align 64 : !memory.storage<#cpu0>
  %s0 = memory.slice_storage %joined[0] size 64 align 64 : !memory.storage<#cpu0>
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32, #cpu0>
  %a = memory.copy ins(%x : tensor<16xf32, #cpu0>) outs(%t0 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s1 = memory.slice_storage %joined[64] size 64 align 64 : !memory.storage<#cpu0>
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32, #cpu0>
  %b = memory.copy ins(%x : tensor<16xf32, #cpu0>) outs(%t1 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %y = vm.join_tensors %a, %b : (tensor<16xf32, #cpu0>, tensor<16xf32, #cpu0>) -> tensor<32xf32, #cpu0>
  %s2 = memory.alloc_storage 128 align 64 : !memory.storage<#cpu0>
  %t2 = memory.alloc_tensor %s2[0] : tensor<32xf32, #cpu0>
  %z = memory.copy ins(%y : tensor<32xf32, #cpu0>) outs(%t2 : tensor<32xf32, #cpu0>) -> tensor<32xf32, #cpu0>
  func.return %z : tensor<32xf32, #cpu0>
}
