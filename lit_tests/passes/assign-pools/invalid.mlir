// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'assign-pools{pools="dtcm=100:1,sram=32:3"}' %s

// An error says which storages do not fit, when, how many bytes are missing, and what would do.
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
