// RUN: xrelay-opt --split-input-file -p 'pass-workspaces{lend-entries}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'plan-memory{lend-entries},expand-packs' %s | filecheck %s --check-prefix=PLAN

// A function that is called from outside gets its storages, too, and stays public.
//
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%x: tensor<16xf32>,
// CHECK-SAME:    %[[R:[a-z_0-9]+]]: !memory.storage {memory.result = 0 : i64, memory.alignment = 64 : i64},
// CHECK-SAME:    %[[W:[a-z_0-9]+]]: !memory.storage {memory.workspace = array<i64>, memory.alignment = 64 : i64})
// CHECK:         memory.alloc_storage 64
// CHECK:         %[[T:.*]] = memory.alloc_tensor %[[R]][0]
// CHECK:         outs(%[[T]]
// CHECK-NOT:     memory.sizes_of
// PLAN-LABEL:  func.func @main
// PLAN-SAME:     memory.size = 64 : i64
// PLAN-NOT:      memory.alloc_storage
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t1 : tensor<16xf32>) -> tensor<16xf32>
  func.return %b : tensor<16xf32>
}

// -----

// The storage of a function that it calls lies in its own workspace.
//
// PLAN-LABEL:  func.func private @leaf
// PLAN-LABEL:  func.func @main
// PLAN-SAME:     %[[R:[a-z_0-9]+]]: !memory.storage {memory.result = 0
// PLAN-SAME:     %[[W:[a-z_0-9]+]]: !memory.storage {memory.workspace = array<i64>
// PLAN-NOT:      memory.alloc_storage
// PLAN:          %[[S:.*]] = memory.slice_storage %[[W]][0] size 64
// PLAN:          func.call @leaf(%x, %[[R]], %[[S]])
func.func private @leaf(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t1 : tensor<16xf32>) -> tensor<16xf32>
  func.return %b : tensor<16xf32>
}
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = func.call @leaf(%x) : (tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

// -----

// With dynamic dims, a function computes what callers allocate: the bytes of the storages, and the
// dims of the results.
//
// CHECK-LABEL: func.func @rows
// PLAN-LABEL:  func.func @rows
// PLAN:        func.func @rows.sizes(%[[N:.*]]: i64) -> (i64, i64, i64) attributes {memory.sizes_of = @rows}
// PLAN:          %[[BYTES:.*]] = arith.muli %[[N]],
// PLAN:          %[[SHAPE:.*]] = tensor.from_elements %[[N]], %{{.*}} : tensor<2xi64>
// PLAN:          %[[DIM:.*]] = tensor.extract %[[SHAPE]][%
// PLAN:          %[[WORK:.*]] = arith.muli %[[DIM]],
// PLAN:          func.return %[[BYTES]], %[[WORK]], %[[N]]
func.func @rows(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %shape = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %c0 = arith.constant 0 : index
  %n = tensor.extract %shape[%c0] : tensor<2xi64>
  %c16 = arith.constant 16 : i64
  %bytes = arith.muli %n, %c16 : i64
  %s0 = memory.alloc_storage %bytes align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<2xi64> -> tensor<?x4xf32>
  %a = memory.copy ins(%x : tensor<?x4xf32>) outs(%t0 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s1 = memory.alloc_storage %bytes align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] shape %shape : tensor<2xi64> -> tensor<?x4xf32>
  %b = memory.copy ins(%a : tensor<?x4xf32>) outs(%t1 : tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %b : tensor<?x4xf32>
}

// -----

// The dims of a parameter that is returned are those that were given.
//
// PLAN-LABEL:  func.func @same.sizes
// PLAN-SAME:     (%[[N:.*]]: i64) -> i64
// PLAN-NEXT:     func.return %[[N]]
func.func @same(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  func.return %x : tensor<?x4xf32>
}

// -----

// A caller allocates 16 bytes for this result, so it cannot lend the storage of 64; nor can it for
// what a function that is called needs.
//
// CHECK-LABEL: func.func private @larger
// CHECK-SAME:    memory.result = 0
// CHECK-LABEL: func.func @caller
// CHECK-NOT:     memory.result
// CHECK:         memory.alloc_storage 64
// CHECK:         func.call @larger
relay.prim_func @two() -> tensor<4xf32> {
  %c = relay.constant dense<2.0> : tensor<4xf32>
  relay.yield %c : tensor<4xf32>
}
func.func private @larger() -> tensor<4xf32> {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @two outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
func.func @caller() -> tensor<4xf32> {
  %a = func.call @larger() : () -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

// Dims make no difference: these are 4 bytes an element, of which there is one a row.
//
// CHECK-LABEL: func.func @bytes
// CHECK-NOT:     memory.result
// CHECK:         memory.alloc_storage
relay.prim_func @narrow(%x: tensor<?xf32>) -> tensor<?xi8> {
  %y = relay.cast %x {dtype = i8} : (tensor<?xf32>) -> tensor<?xi8>
  relay.yield %y : tensor<?xi8>
}
func.func @bytes(%x: tensor<?xf32>) -> tensor<?xi8> {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %c0 = arith.constant 0 : index
  %n = tensor.extract %shape[%c0] : tensor<1xi64>
  %c4 = arith.constant 4 : i64
  %bytes = arith.muli %n, %c4 : i64
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %shape : tensor<1xi64> -> tensor<?xi8>
  %a = vm.invoke_tvm_op @narrow ins(%x : tensor<?xf32>) outs(%t : tensor<?xi8>) -> tensor<?xi8>
  func.return %a : tensor<?xi8>
}
