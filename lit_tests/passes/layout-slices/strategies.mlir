// RUN: xrelay-opt -p 'layout-slices{strategy=coalesce}' %s | filecheck %s --check-prefix=COALESCE
// RUN: xrelay-opt -p 'layout-slices{strategy=greedy-by-size}' %s | filecheck %s --check-prefix=GREEDY

// The strategy is the planner's: `coalesce` reuses no bytes.
//
// COALESCE-LABEL: func.func @strategy
// COALESCE:         memory.alloc_storage 192 align 64
// GREEDY-LABEL:   func.func @strategy
// GREEDY:           memory.alloc_storage 128 align 64
func.func @strategy() {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) 64
  %offsets_1 = memory.slice %pack [1, 3) 64
  %offsets_2 = memory.slice %pack [2, 4) 64
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_0] : tensor<16xf32>
  %b = memory.alloc_tensor %s[%offsets_1] : tensor<16xf32>
  %c = memory.alloc_tensor %s[%offsets_2] : tensor<16xf32>
  func.return
}

// In a pool that is too small for the strategy, the offsets are those of a search.
//
// COALESCE-LABEL: func.func @pool
// COALESCE:         memory.alloc_storage 128 align 64
// GREEDY-LABEL:   func.func @pool
// GREEDY:           memory.alloc_storage 128 align 64
func.func @pool() {
  %pack = memory.pack align 64 in #memory.pool<#relay.device<cpu:0, scope = "fast">, capacity 128, cost 1, align 64> : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) 64
  %offsets_1 = memory.slice %pack [1, 3) 64
  %offsets_2 = memory.slice %pack [2, 4) 64
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_0] : tensor<16xf32>
  %b = memory.alloc_tensor %s[%offsets_1] : tensor<16xf32>
  %c = memory.alloc_tensor %s[%offsets_2] : tensor<16xf32>
  func.return
}
