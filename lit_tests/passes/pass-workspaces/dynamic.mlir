// RUN: xrelay-opt --split-input-file -p pass-workspaces,pack-storage,layout-slices,expand-packs %s | filecheck %s

// Callers compute the sizes of workspaces and results from the shapes with which arguments are
// allocated: a result of a call, too. So all of it is known at the start, where the arena is.
//
// CHECK-LABEL: func.func private @leaf
// CHECK-SAME:    %[[R:[a-z_0-9]+]]: !memory.storage {memory.result = 0 : i64, memory.alignment = 64 : i64}
// CHECK-SAME:    %[[W:[a-z_0-9]+]]: !memory.storage {memory.workspace = array<i64: 0>, memory.alignment = 64 : i64}
// CHECK:         %[[UP:.*]] = arith.andi
// CHECK:         memory.alloc_tensor %[[W]][0] shape
// CHECK:         memory.alloc_tensor %[[W]][%[[UP]]] shape
// CHECK:         memory.alloc_tensor %[[R]][0] shape
// CHECK-LABEL: func.func @main
// CHECK-NOT:     memory.workspace_size
// CHECK:         %[[TOTAL:total]] = arith.addi
// CHECK:         %[[ARENA:.*]] = memory.alloc_storage %{{.*}} align 64
// CHECK:         %[[W0:.*]] = memory.slice_storage %[[ARENA]][0] size %[[TOTAL]] align 64
// CHECK:         func.call @leaf(%{{.*}}, %{{.*}}, %[[W0]])
// CHECK:         %[[W1:.*]] = memory.slice_storage %[[ARENA]][0] size %[[TOTAL]] align 64
// CHECK:         func.call @leaf(%{{.*}}, %{{.*}}, %[[W1]])
func.func private @leaf(%x: tensor<?xf32>) -> tensor<?xf32> {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = arith.constant 0 : index
  %n = tensor.extract %shape[%i0] : tensor<1xi64>
  %c4 = arith.constant 4 : i64
  %size = arith.muli %n, %c4 : i64
  %s0 = memory.alloc_storage %size align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t0 : tensor<?xf32>) -> tensor<?xf32>
  %s1 = memory.alloc_storage %size align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %b = memory.copy ins(%a : tensor<?xf32>) outs(%t1 : tensor<?xf32>) -> tensor<?xf32>
  %s2 = memory.alloc_storage %size align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %c = memory.copy ins(%b : tensor<?xf32>) outs(%t2 : tensor<?xf32>) -> tensor<?xf32>
  func.return %c : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = arith.constant 0 : index
  %n = tensor.extract %shape[%i0] : tensor<1xi64>
  %c4 = arith.constant 4 : i64
  %size = arith.muli %n, %c4 : i64
  %s0 = memory.alloc_storage %size align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t0 : tensor<?xf32>) -> tensor<?xf32>
  %b = func.call @leaf(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %c = func.call @leaf(%b) : (tensor<?xf32>) -> tensor<?xf32>
  %s9 = memory.alloc_storage %size align 64 : !memory.storage
  %t9 = memory.alloc_tensor %s9[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %y = memory.copy ins(%c : tensor<?xf32>) outs(%t9 : tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

// A size that depends on data is known in the function only, which keeps its storages.
//
// CHECK-LABEL: func.func private @leaf(%x: tensor<?xf32>, %k: tensor<i64>) ->
// CHECK:         memory.alloc_storage %{{.*}} align 64
// CHECK:         memory.alloc_storage %{{.*}} align 64
// CHECK-LABEL: func.func @main
// CHECK:         func.call @leaf(%x, %k) :
func.func private @leaf(%x: tensor<?xf32>, %k: tensor<i64>) -> tensor<?xf32> {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %size = tensor.extract %k[] : tensor<i64>
  %s0 = memory.alloc_storage %size align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t0 : tensor<?xf32>) -> tensor<?xf32>
  %s1 = memory.alloc_storage %size align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %b = memory.copy ins(%a : tensor<?xf32>) outs(%t1 : tensor<?xf32>) -> tensor<?xf32>
  %s2 = memory.alloc_storage %size align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %c = memory.copy ins(%b : tensor<?xf32>) outs(%t2 : tensor<?xf32>) -> tensor<?xf32>
  func.return %c : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32>, %k: tensor<i64>) -> tensor<?xf32> {
  %b = func.call @leaf(%x, %k) : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  func.return %b : tensor<?xf32>
}

// -----

// The shape of a result is computed as its callee does, not measured after the call.
//
// CHECK-LABEL: func.func @measured
// CHECK-NOT:     vm.shape_of %{{[a-c]}}
// CHECK:         func.return
func.func private @leaf(%x: tensor<?xf32>) -> tensor<?xf32> {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = arith.constant 0 : index
  %n = tensor.extract %shape[%i0] : tensor<1xi64>
  %c4 = arith.constant 4 : i64
  %size = arith.muli %n, %c4 : i64
  %s0 = memory.alloc_storage %size align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t0 : tensor<?xf32>) -> tensor<?xf32>
  %s1 = memory.alloc_storage %size align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %b = memory.copy ins(%a : tensor<?xf32>) outs(%t1 : tensor<?xf32>) -> tensor<?xf32>
  %s2 = memory.alloc_storage %size align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %c = memory.copy ins(%b : tensor<?xf32>) outs(%t2 : tensor<?xf32>) -> tensor<?xf32>
  func.return %c : tensor<?xf32>
}
func.func @measured(%x: tensor<?xf32>) -> tensor<?xf32> {
  %b = func.call @leaf(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %shape = vm.shape_of %b : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = arith.constant 0 : index
  %n = tensor.extract %shape[%i0] : tensor<1xi64>
  %c4 = arith.constant 4 : i64
  %size = arith.muli %n, %c4 : i64
  %s9 = memory.alloc_storage %size align 64 : !memory.storage
  %t9 = memory.alloc_tensor %s9[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %y = memory.copy ins(%b : tensor<?xf32>) outs(%t9 : tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

// A size that is divided by a number is one for all shapes, so callers compute it at their start.
//
// CHECK-LABEL: func.func private @halves
// CHECK-SAME:    !memory.storage {memory.workspace = array<i64: 0>, memory.alignment = 64 : i64}
// CHECK-LABEL: func.func @main
// CHECK:         arith.floordivsi
// CHECK:         memory.alloc_storage %{{.*}} align 64
// CHECK:         func.call @halves(
func.func private @halves(%x: tensor<?xf32>) -> tensor<?xf32> {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = arith.constant 0 : index
  %n = tensor.extract %shape[%i0] : tensor<1xi64>
  %c2 = arith.constant 2 : i64
  %c16 = arith.constant 16 : i64
  %half = arith.floordivsi %n, %c2 : i64
  %more = arith.addi %half, %c2 : i64
  %size = arith.muli %more, %c16 : i64
  %s0 = memory.alloc_storage %size align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t0 : tensor<?xf32>) -> tensor<?xf32>
  %s1 = memory.alloc_storage %size align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %b = memory.copy ins(%a : tensor<?xf32>) outs(%t1 : tensor<?xf32>) -> tensor<?xf32>
  %s2 = memory.alloc_storage %size align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %c = memory.copy ins(%b : tensor<?xf32>) outs(%t2 : tensor<?xf32>) -> tensor<?xf32>
  func.return %c : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = func.call @halves(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %a : tensor<?xf32>
}
