// RUN: xrelay-opt -p 'place-constants{pools="itcm=20:1,flash=:5"}' %s | filecheck %s
// RUN: xrelay-opt -p 'place-constants{pools="itcm=20:1,flash=:5"},report-memory' %s -o %t.out 2>&1 | filecheck %s --check-prefix=REPORT
// RUN: xrelay-opt -p 'place-constants{pools="itcm=20:1,flash=:5"},report-memory{format=json}' %s -o %t.out 2>&1 | filecheck %s --check-prefix=JSON
// RUN: xrelay-opt -p 'place-constants{pools="itcm=20:1,flash=:5"}' -t memory-plan-svg %s | filecheck %s --check-prefix=SVG
// RUN: xrelay-opt -p 'place-constants{pools="itcm=20:1,flash=:5"}' -t memory-plan-html %s | filecheck %s --check-prefix=HTML

// The param that is read twice, once through a view, is in the pool where reading costs least.
//
// CHECK:       memory.constant_pools = [#memory.pool<#cpu0_itcm, capacity 20, cost 1, align 1>, #memory.pool<#cpu0_flash, cost 5, align 1>]
// CHECK-LABEL: func.func @main
// CHECK:         relay.param "w" {memory.pool = 1 : i64, memory.offset = 0 : i64}
// CHECK:         relay.param "v" {memory.pool = 0 : i64, memory.offset = 0 : i64}
// CHECK:         relay.param "u" {memory.pool = 1 : i64, memory.offset = 64 : i64}

// Reports and pictures have each pool of constants after the functions, with its capacity: not that
// of the pool of storages with the same name.
//
// REPORT:      memory of @main on cpu:0/itcm
// REPORT:        capacity           128 B  128 B  of the pool; reading a byte costs 2
// REPORT:      memory of constants on cpu:0/itcm
// REPORT-NEXT:   sum of tensors     16 B  16 B  1 tensor
// REPORT:        planned            16 B  16 B
// REPORT-NEXT:   capacity           20 B  20 B  of the pool; reading a byte costs 1
// REPORT:        v       16 B  16 B  constants_itcm[0]
// REPORT:      memory of constants on cpu:0/flash
// REPORT-NEXT:   sum of tensors          32 B  32 B  2 tensors
// REPORT:        planned                 80 B  80 B
// REPORT-NEXT:   capacity           unbounded
// REPORT-SAME:   reading a byte costs 5
// REPORT:        w       16 B  16 B   constants_flash[0]
// REPORT-NEXT:   u       16 B  16 B  constants_flash[64]
//
// JSON:      "function": "constants",
// JSON-NEXT: "device": "cpu:0/itcm",
// JSON:        "capacity": 20,
// JSON:      "function": "constants",
// JSON-NEXT: "device": "cpu:0/flash",
//
// SVG: constants on cpu:0/itcm: planned 16 B of 20 B
// SVG-SAME: constants on cpu:0/flash: planned 80 B
//
// HTML: <h2 id="p1-title">constants on cpu:0/itcm</h2>
// HTML: <dt>Capacity</dt><dd><b>20 B</b><span>reading a byte costs 1</span>
// HTML: <h2 id="p2-title">constants on cpu:0/flash</h2>
// HTML: <dt>Capacity</dt><dd><b>unbounded</b><span>reading a byte costs 5</span>
#cpu0 = #relay.device<cpu:0>
#itcm = #relay.device<cpu:0, scope = "itcm">
builtin.module attributes {memory.pools = [#memory.pool<#itcm, capacity 128, cost 2, align 1>]} {
  func.func @main() {
    %w = relay.param "w" : tensor<4xf32, #cpu0>
    %v = relay.param "v" : tensor<4xf32, #cpu0>
    %u = relay.param "u" : tensor<4xf32, #cpu0>
    %view = vm.reshape_tensor %v : (tensor<4xf32, #cpu0>) -> tensor<2x2xf32, #cpu0>
    %s = memory.alloc_storage 64 align 64 : !memory.storage<#itcm>
    %t = memory.alloc_tensor %s[0] : tensor<4xf32, #cpu0> in !memory.storage<#itcm>
    %a = memory.copy ins(%v : tensor<4xf32, #cpu0>) outs(%t : tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
    "test.op"(%view, %w, %u, %a) : (tensor<2x2xf32, #cpu0>, tensor<4xf32, #cpu0>, tensor<4xf32, #cpu0>, tensor<4xf32, #cpu0>) -> ()
    func.return
  }
}
