// RUN: xrelay-opt --split-input-file -p 'assign-pools{pools="dtcm=64:1,psram=:10"}' %s | filecheck %s

// The storage whose bytes are read and written most often is in the cheapest pool, the others, which
// are live together with it, where there is room; what is returned to a caller from outside is in
// no pool.
//
// CHECK:       builtin.module attributes {memory.pools = [#memory.pool<#cpu0_dtcm, capacity 64, cost 1, align 1>, #memory.pool<#cpu0_psram, cost 10, align 1>]}
// CHECK-LABEL: func.func @reads_decide
// CHECK-NEXT:    %[[ONCE:.*]] = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0_psram>
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[ONCE]][0] : tensor<16xf32, #cpu0> in !memory.storage<#cpu0_psram>
// CHECK:         %[[OFTEN:.*]] = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0_dtcm>
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[OFTEN]][0] : tensor<16xf32, #cpu0> in !memory.storage<#cpu0_dtcm>
// CHECK:         memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
#cpu0 = #relay.device<cpu:0>
func.func @reads_decide(%x: tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32, #cpu0>
  %a = memory.copy ins(%x : tensor<16xf32, #cpu0>) outs(%t0 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32, #cpu0>
  %b = vm.invoke_tvm_op @add ins(%x, %x : tensor<16xf32, #cpu0>, tensor<16xf32, #cpu0>) outs(%t1 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s2 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t2 = memory.alloc_tensor %s2[0] : tensor<16xf32, #cpu0>
  %c = vm.invoke_tvm_op @add ins(%b, %b : tensor<16xf32, #cpu0>, tensor<16xf32, #cpu0>) outs(%t2 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s3 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t3 = memory.alloc_tensor %s3[0] : tensor<16xf32, #cpu0>
  %d = vm.invoke_tvm_op @add ins(%b, %c : tensor<16xf32, #cpu0>, tensor<16xf32, #cpu0>) outs(%t3 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s4 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t4 = memory.alloc_tensor %s4[0] : tensor<16xf32, #cpu0>
  %e = vm.invoke_tvm_op @add ins(%d, %a : tensor<16xf32, #cpu0>, tensor<16xf32, #cpu0>) outs(%t4 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  func.return %e : tensor<16xf32, #cpu0>
}
relay.prim_func @add(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %c = relay.add %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  relay.yield %c : tensor<16xf32>
}

// -----

// What a callee needs of a pool is taken while it runs: the caller's storage, which lives then, is
// elsewhere. What a function returns to another is in the last pool.
//
// CHECK-LABEL: func.func private @callee
// CHECK:         memory.alloc_storage 64 align 64 : !memory.storage<#cpu0_dtcm>
// CHECK:         memory.alloc_storage 64 align 64 : !memory.storage<#cpu0_psram>
// CHECK-LABEL: func.func @caller
// CHECK-NEXT:    memory.alloc_storage 64 align 64 : !memory.storage<#cpu0_psram>
#cpu0 = #relay.device<cpu:0>
func.func private @callee(%x: tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32, #cpu0>
  %a = memory.copy ins(%x : tensor<16xf32, #cpu0>) outs(%t0 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32, #cpu0>
  %b = memory.copy ins(%a : tensor<16xf32, #cpu0>) outs(%t1 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  func.return %b : tensor<16xf32, #cpu0>
}
func.func @caller(%x: tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32, #cpu0>
  %a = memory.copy ins(%x : tensor<16xf32, #cpu0>) outs(%t0 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %b = func.call @callee(%a) : (tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32, #cpu0>
  %c = vm.invoke_tvm_op @add2 ins(%a, %b : tensor<16xf32, #cpu0>, tensor<16xf32, #cpu0>) outs(%t1 : tensor<16xf32, #cpu0>) -> tensor<16xf32, #cpu0>
  func.return %c : tensor<16xf32, #cpu0>
}
relay.prim_func @add2(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %c = relay.add %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  relay.yield %c : tensor<16xf32>
}
