// RUN: xrelay-opt --split-input-file -p pass-workspaces,pack-storage,layout-slices,verify-memory-plan %s | filecheck %s

// What a function computes in is in its workspace. Two calls, one after the other, compute in the
// same bytes of the caller's arena, and their results have slices of it.
//
// CHECK-LABEL: func.func private @leaf
// CHECK-SAME:    %[[R:[a-z_0-9]+]]: !memory.storage {memory.result = 0 : i64, memory.alignment = 64 : i64}
// CHECK-SAME:    %[[W:[a-z_0-9]+]]: !memory.storage {memory.workspace = array<i64>, memory.alignment = 64 : i64, memory.size = 128 : i64}
// CHECK:         memory.alloc_tensor %[[W]][0]
// CHECK:         memory.alloc_tensor %[[W]][64]
// CHECK:         memory.alloc_tensor %[[R]][0]
// CHECK-LABEL: func.func @main
// CHECK:         %[[ARENA:.*]] = memory.alloc_storage 256 align 64
// CHECK:         %[[R0:.*]] = memory.slice_storage %[[ARENA]][128] size 64 align 64
// CHECK:         %[[W0:.*]] = memory.slice_storage %[[ARENA]][0] size 128 align 64
// CHECK:         func.call @leaf(%x, %[[R0]], %[[W0]])
// CHECK:         %[[R1:.*]] = memory.slice_storage %[[ARENA]][192] size 64 align 64
// CHECK:         %[[W1:.*]] = memory.slice_storage %[[ARENA]][0] size 128 align 64
// CHECK:         func.call @leaf(%{{.*}}, %[[R1]], %[[W1]])
// CHECK:         memory.alloc_storage 64
// CHECK:         func.return
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
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = func.call @leaf(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %b = func.call @leaf(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %c = memory.copy ins(%b : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  func.return %c : tensor<16xf32>
}

// -----

// The workspace of a callee is in that of its caller: the program has one arena.
//
// CHECK-LABEL: func.func private @inner
// CHECK-SAME:    %[[W:workspace[_0-9]*]]: !memory.storage {memory.workspace = array<i64>, memory.alignment = 64 : i64, memory.size = 192 : i64}
// CHECK:         %[[R1:.*]] = memory.slice_storage %[[W]][128] size 64 align 64
// CHECK:         %[[W1:.*]] = memory.slice_storage %[[W]][0] size 128 align 64
// CHECK:         func.call @leaf(%x, %[[R1]], %[[W1]])
// CHECK-LABEL: func.func @main
// CHECK:         %[[ARENA:.*]] = memory.alloc_storage 256 align 64
// CHECK:         %[[R2:.*]] = memory.slice_storage %[[ARENA]][192] size 64 align 64
// CHECK:         %[[W2:.*]] = memory.slice_storage %[[ARENA]][0] size 192 align 64
// CHECK:         func.call @inner(%x, %[[R2]], %[[W2]])
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
func.func private @inner(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = func.call @leaf(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  func.return %b : tensor<16xf32>
}
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = func.call @inner(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  func.return %b : tensor<16xf32>
}

// -----

// Calls in the arms of a branch compute in the same bytes of an arena before the branch.
//
// CHECK-LABEL: func.func @main
// CHECK:         %[[ARENA:.*]] = memory.alloc_storage 256 align 64
// CHECK:         relay.if
// CHECK:         %[[R0:.*]] = memory.slice_storage %[[ARENA]][128] size 64 align 64
// CHECK:         %[[W0:.*]] = memory.slice_storage %[[ARENA]][0] size 128 align 64
// CHECK:         func.call @leaf(%x, %[[R0]], %[[W0]])
// CHECK:         relay.yield
// CHECK:         %[[R1:.*]] = memory.slice_storage %[[ARENA]][128] size 64 align 64
// CHECK:         %[[W1:.*]] = memory.slice_storage %[[ARENA]][0] size 128 align 64
// CHECK:         func.call @leaf(%x, %[[R1]], %[[W1]])
// CHECK:         %[[R2:.*]] = memory.slice_storage %[[ARENA]][192] size 64 align 64
// CHECK:         %[[W2:.*]] = memory.slice_storage %[[ARENA]][0] size 128 align 64
// CHECK:         func.call @leaf(%{{.*}}, %[[R2]], %[[W2]])
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
func.func @main(%x: tensor<16xf32>, %c: tensor<i1>) -> tensor<16xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
  %a = func.call @leaf(%x) : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %a : tensor<16xf32>
  } else {
  %b = func.call @leaf(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %d = func.call @leaf(%b) : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %d : tensor<16xf32>
  }
  %s9 = memory.alloc_storage 64 align 64 : !memory.storage
  %t9 = memory.alloc_tensor %s9[0] : tensor<16xf32>
  %y = memory.copy ins(%r : tensor<16xf32>) outs(%t9 : tensor<16xf32>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}

// -----

// A function has a workspace on each device.
//
// CHECK-LABEL: func.func private @there
// CHECK-SAME:    %[[C:[a-z_0-9]+]]: !memory.storage<#cpu0> {memory.workspace = array<i64>, memory.alignment = 64 : i64, memory.size = 64 : i64}
// CHECK-SAME:    %[[G:[a-z_0-9]+]]: !memory.storage<#cuda0> {memory.workspace = array<i64>, memory.alignment = 64 : i64, memory.size = 128 : i64}
// CHECK:         memory.alloc_tensor %[[C]][0] : tensor<16xf32, #cpu0>
// CHECK:         memory.alloc_tensor %[[G]][0] : tensor<16xf32, #cuda0>
// CHECK:         memory.alloc_tensor %[[G]][64] : tensor<16xf32, #cuda0>
// CHECK-LABEL: func.func @main
// CHECK:         memory.alloc_storage 128 align 64 : !memory.storage<#cpu0>
// CHECK:         %[[G1:.*]] = memory.alloc_storage 128 align 64 : !memory.storage<#cuda0>
// CHECK:         func.call @there(%x, %{{.*}}, %{{.*}}, %[[G1]])
func.func private @there(%x: tensor<16xf32, #relay.device<cpu:0>>) -> tensor<16xf32, #relay.device<cpu:0>> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32, #relay.device<cpu:0>>
  %a = memory.copy ins(%x : tensor<16xf32, #relay.device<cpu:0>>) outs(%t0 : tensor<16xf32, #relay.device<cpu:0>>) -> tensor<16xf32, #relay.device<cpu:0>>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32, #relay.device<cuda:0>>
  %b = memory.copy ins(%a : tensor<16xf32, #relay.device<cpu:0>>) outs(%t1 : tensor<16xf32, #relay.device<cuda:0>>) -> tensor<16xf32, #relay.device<cuda:0>>
  %s2 = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t2 = memory.alloc_tensor %s2[0] : tensor<16xf32, #relay.device<cuda:0>>
  %c = memory.copy ins(%b : tensor<16xf32, #relay.device<cuda:0>>) outs(%t2 : tensor<16xf32, #relay.device<cuda:0>>) -> tensor<16xf32, #relay.device<cuda:0>>
  %s3 = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t3 = memory.alloc_tensor %s3[0] : tensor<16xf32, #relay.device<cpu:0>>
  %d = memory.copy ins(%c : tensor<16xf32, #relay.device<cuda:0>>) outs(%t3 : tensor<16xf32, #relay.device<cpu:0>>) -> tensor<16xf32, #relay.device<cpu:0>>
  func.return %d : tensor<16xf32, #relay.device<cpu:0>>
}
func.func @main(%x: tensor<16xf32, #relay.device<cpu:0>>) -> tensor<16xf32, #relay.device<cpu:0>> {
  %a = func.call @there(%x) : (tensor<16xf32, #relay.device<cpu:0>>) -> tensor<16xf32, #relay.device<cpu:0>>
  %s9 = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t9 = memory.alloc_tensor %s9[0] : tensor<16xf32, #relay.device<cpu:0>>
  %y = memory.copy ins(%a : tensor<16xf32, #relay.device<cpu:0>>) outs(%t9 : tensor<16xf32, #relay.device<cpu:0>>) -> tensor<16xf32, #relay.device<cpu:0>>
  func.return %y : tensor<16xf32, #relay.device<cpu:0>>
}
