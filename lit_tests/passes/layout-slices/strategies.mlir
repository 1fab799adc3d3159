// RUN: xrelay-opt -p 'layout-slices{strategy=coalesce}' %s | filecheck %s --check-prefix=COALESCE
// RUN: xrelay-opt -p 'layout-slices{strategy=greedy-by-size}' %s | filecheck %s --check-prefix=GREEDY

// The strategy is the planner's: `coalesce` reuses no bytes.
//
// COALESCE-LABEL: func.func @strategy
// COALESCE:         memory.alloc_storage 192 align 64
// GREEDY-LABEL:   func.func @strategy
// GREEDY:           memory.alloc_storage 128 align 64
func.func @strategy() {
  %total, %offsets:3 = memory.pack align 64 {
    [0, 2) 64
    [1, 3) 64
    [2, 4) 64
  }
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets#0] : tensor<16xf32>
  %b = memory.alloc_tensor %s[%offsets#1] : tensor<16xf32>
  %c = memory.alloc_tensor %s[%offsets#2] : tensor<16xf32>
  func.return
}
