// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'assign-pools{pools="dtcm=100:1,sram=32:3"}' %s
// RUN: not xrelay-opt -p 'assign-pools{pools="dtcm=100:1,sram=32:3"}' %s 2>&1 | filecheck %s

// An error says which storages do not fit, when, how many bytes are missing, and what would do. It
// is proved, as it does not say that it is not.
//
// CHECK:      do not fit in dtcm=100:1, sram=32:3: 28 bytes are missing
// CHECK-NEXT:   alive at 4: s0 #0 (64), s1 #1 (64)
// CHECK-NEXT:   it would fit with dtcm=128
#cpu0 = #relay.device<cpu:0>
func.func @too_small(%x: tensor<16xf32, #cpu0>) {
  // expected-error@+1 {{the storages of this function do not fit in dtcm=100:1, sram=32:3: 28 bytes are missing}}
  %s0 = memory.alloc_storage 64 align 4 : !memory.storage<#cpu0>
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32, #cpu0>
  %a = memory.copy ins(%x : tensor<16xf32, #cpu0>) outs(%t0 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s1 = memory.alloc_storage 64 align 4 : !memory.storage<#cpu0>
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32, #cpu0>
  %b = memory.copy ins(%a : tensor<16xf32, #cpu0>) outs(%t1 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %n = vm.shape_of %a : (tensor<16xf32, #cpu0>) -> tensor<1xi64, #cpu0>
  func.return
}
