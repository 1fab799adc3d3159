// RUN: xrelay-opt -p report-memory %s -o %t.out 2>&1 | filecheck %s
// RUN: xrelay-opt -p 'report-memory{format=json}' %s -o %t.out 2>&1 | filecheck %s --check-prefix=JSON

// Each pool is a block of its own, with its capacity.
//
// CHECK:      memory of @main on cpu:0/dtcm
// CHECK-NEXT:   sum of tensors      16 B  16 B  1 tensor
// CHECK:        planned             64 B  64 B  4.000 x the lower bound
// CHECK-NEXT:   capacity           128 B  128 B  of the pool; reading a byte costs 1
// CHECK:      memory of @main on cpu:0/psram
// CHECK:        planned            128 B
// CHECK-NEXT:   capacity       unbounded
// CHECK-SAME:   of the pool; reading a byte costs 10
// CHECK:      memory of @main on cpu:0
// CHECK-NOT:    capacity
//
// JSON:      "device": "cpu:0/dtcm",
// JSON:        "pool": {
// JSON-NEXT:     "capacity": 128,
// JSON-NEXT:     "cost": 1
// JSON:      "device": "cpu:0/psram",
// JSON:        "capacity": null,
// JSON:      "device": "cpu:0",
// JSON:        "pool": null,
#cpu0 = #relay.device<cpu:0>
#dtcm = #relay.device<cpu:0, scope = "dtcm">
#psram = #relay.device<cpu:0, scope = "psram">
builtin.module attributes {memory.pools = [#memory.pool<#dtcm, capacity 128, cost 1, align 1>, #memory.pool<#psram, cost 10, align 1>]} {
  func.func @main() {
    %s = memory.alloc_storage 64 align 64 : !memory.storage<#dtcm>
    %t = memory.alloc_tensor %s[0] : tensor<4xf32, #cpu0> in !memory.storage<#dtcm>
    %s1 = memory.alloc_storage 128 align 64 : !memory.storage<#psram>
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32, #cpu0> in !memory.storage<#psram>
    %s2 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
    %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32, #cpu0>
    "test.op"() : () -> ()
    memory.kill %t : tensor<4xf32, #cpu0>
    memory.kill %t1 : tensor<4xf32, #cpu0>
    memory.kill %t2 : tensor<4xf32, #cpu0>
    func.return
  }
}
