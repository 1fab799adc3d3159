// RUN: xrelay-opt --split-input-file -p pass-workspaces,pack-storage,layout-slices,verify-memory-plan %s | filecheck %s

// A function that calls itself keeps its arena: its activations need one each.
//
// CHECK-LABEL: func.func private @loop(%x: tensor<16xf32>, %c: tensor<i1>) ->
// CHECK:         memory.alloc_storage 128
// CHECK:         memory.alloc_storage 64
// CHECK:         func.call @loop(%{{.*}}, %c) :
func.func private @loop(%x: tensor<16xf32>, %c: tensor<i1>) -> tensor<16xf32> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t1 : tensor<16xf32>) -> tensor<16xf32>
  %s2 = memory.alloc_storage 64 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<16xf32>
  %d = memory.copy ins(%b : tensor<16xf32>) outs(%t2 : tensor<16xf32>) -> tensor<16xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
  %e = func.call @loop(%d, %c) : (tensor<16xf32>, tensor<i1>) -> tensor<16xf32>
  relay.yield %e : tensor<16xf32>
  } else {
  relay.yield %d : tensor<16xf32>
  }
  func.return %r : tensor<16xf32>
}
func.func @main(%x: tensor<16xf32>, %c: tensor<i1>) -> tensor<16xf32> {
  %a = func.call @loop(%x, %c) : (tensor<16xf32>, tensor<i1>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

// -----

// A function that is used as a value keeps its arena: not all of its callers are known.
//
// CHECK-LABEL: func.func private @leaf(%x: tensor<16xf32>) ->
// CHECK:         memory.alloc_storage 128
// CHECK-LABEL: func.func @main
// CHECK:         func.call @leaf(%x) :
func.func private @leaf(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t1 : tensor<16xf32>) -> tensor<16xf32>
  %s2 = memory.alloc_storage 64 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<16xf32>
  %c = memory.copy ins(%b : tensor<16xf32>) outs(%t2 : tensor<16xf32>) -> tensor<16xf32>
  func.return %c : tensor<16xf32>
}
func.func @main(%x: tensor<16xf32>) -> (tensor<16xf32>, (tensor<16xf32>) -> tensor<16xf32>) {
  %f = relay.global @leaf : (tensor<16xf32>) -> tensor<16xf32>
  %a = func.call @leaf(%x) : (tensor<16xf32>) -> tensor<16xf32>
  func.return %a, %f : tensor<16xf32>, (tensor<16xf32>) -> tensor<16xf32>
}
