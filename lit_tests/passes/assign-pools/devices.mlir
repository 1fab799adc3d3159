// RUN: xrelay-opt -p 'assign-pools{pools="cpu:0=1KiB:1,cuda:0/shared=:2:256"}' %s | filecheck %s

// A pool may be the memory of a device itself, whose storages stay as they are, or a scope of any
// device; storages have the alignment of their pool.
//
// CHECK-LABEL: func.func @devices
// CHECK:         memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
// CHECK:         memory.alloc_storage 64 align 256 : !memory.storage<#cuda0_shared>
#cpu0 = #relay.device<cpu:0>
#cuda0 = #relay.device<cuda:0>
func.func @devices(%x: tensor<16xf32, #cpu0>) {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32, #cpu0>
  %a = memory.copy ins(%x : tensor<16xf32, #cpu0>) outs(%t0 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage<#cuda0>
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32, #cuda0>
  %b = memory.copy ins(%a : tensor<16xf32, #cpu0>) outs(%t1 : tensor<16xf32, #cuda0>) -> tensor<16xf32, #cuda0>
  func.return
}
