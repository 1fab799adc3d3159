// RUN: xrelay-opt --split-input-file -p pass-workspaces,pack-storage,layout-slices,verify-memory-plan %s | filecheck %s

// Results of a branch lie in one storage of the caller, whichever arm writes it.
//
// CHECK-LABEL: func.func private @choice
// CHECK-SAME:    %[[R:[a-z_0-9]+]]: !memory.storage {memory.result = 0 : i64, memory.alignment = 64 : i64}
// CHECK:         memory.alloc_tensor %[[R]][0]
// CHECK:         memory.alloc_tensor %[[R]][0]
// CHECK-LABEL: func.func @main
// CHECK:         %[[S:.*]] = memory.alloc_storage 64
// CHECK:         func.call @choice(%x, %c, %[[S]])
func.func private @choice(%x: tensor<16xf32>, %c: tensor<i1>) -> tensor<16xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  relay.yield %a : tensor<16xf32>
  } else {
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32>
  %b = memory.copy ins(%x : tensor<16xf32>) outs(%t1 : tensor<16xf32>) -> tensor<16xf32>
  relay.yield %b : tensor<16xf32>
  }
  func.return %r : tensor<16xf32>
}
func.func @main(%x: tensor<16xf32>, %c: tensor<i1>) -> tensor<16xf32> {
  %a = func.call @choice(%x, %c) : (tensor<16xf32>, tensor<i1>) -> tensor<16xf32>
  %s9 = memory.alloc_storage 64 align 64 : !memory.storage
  %t9 = memory.alloc_tensor %s9[0] : tensor<16xf32>
  %y = memory.copy ins(%a : tensor<16xf32>) outs(%t9 : tensor<16xf32>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}

// -----

// A storage that holds the result on one path only stays with the function.
//
// CHECK-LABEL: func.func private @choice(%x: tensor<16xf32>, %c: tensor<i1>) ->
// CHECK:         memory.alloc_storage 64
// CHECK-LABEL: func.func @main
// CHECK:         func.call @choice(%x, %c) :
func.func private @choice(%x: tensor<16xf32>, %c: tensor<i1>) -> tensor<16xf32> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
  relay.yield %a : tensor<16xf32>
  } else {
  relay.yield %x : tensor<16xf32>
  }
  func.return %r : tensor<16xf32>
}
func.func @main(%x: tensor<16xf32>, %c: tensor<i1>) -> tensor<16xf32> {
  %a = func.call @choice(%x, %c) : (tensor<16xf32>, tensor<i1>) -> tensor<16xf32>
  %s9 = memory.alloc_storage 64 align 64 : !memory.storage
  %t9 = memory.alloc_tensor %s9[0] : tensor<16xf32>
  %y = memory.copy ins(%a : tensor<16xf32>) outs(%t9 : tensor<16xf32>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}

// -----

// The fields of a tuple lie in storages of their own.
//
// CHECK-LABEL: func.func private @pair
// CHECK-SAME:    %[[R0:[a-z_0-9]+]]: !memory.storage {memory.result
// CHECK-SAME:    %[[R1:[a-z_0-9]+]]: !memory.storage {memory.result
// CHECK:         memory.alloc_tensor %[[R0]][0]
// CHECK:         memory.alloc_tensor %[[R1]][0]
// CHECK-LABEL: func.func @main
// CHECK:         %[[ARENA:.*]] = memory.alloc_storage 128
// CHECK:         %[[A:.*]] = memory.slice_storage %[[ARENA]][0] size 64
// CHECK:         %[[B:.*]] = memory.slice_storage %[[ARENA]][64] size 64
// CHECK:         func.call @pair(%x, %[[A]], %[[B]])
func.func private @pair(%x: tensor<16xf32>) -> tuple<tensor<16xf32>, tensor<16xf32>> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t1 : tensor<16xf32>) -> tensor<16xf32>
  %p = relay.tuple %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tuple<tensor<16xf32>, tensor<16xf32>>
  func.return %p : tuple<tensor<16xf32>, tensor<16xf32>>
}
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %p = func.call @pair(%x) : (tensor<16xf32>) -> tuple<tensor<16xf32>, tensor<16xf32>>
  %b = relay.tuple_get_item %p[1] : (tuple<tensor<16xf32>, tensor<16xf32>>) -> tensor<16xf32>
  %s9 = memory.alloc_storage 64 align 64 : !memory.storage
  %t9 = memory.alloc_tensor %s9[0] : tensor<16xf32>
  %y = memory.copy ins(%b : tensor<16xf32>) outs(%t9 : tensor<16xf32>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}
