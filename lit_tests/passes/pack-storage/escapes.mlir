// RUN: xrelay-opt --split-input-file -p pack-storage %s | filecheck %s

// What the function returns keeps its storage, under every name.
//
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     memory.pack
// CHECK:         memory.alloc_storage 16
// CHECK:         memory.alloc_storage 16
// CHECK-NOT:     memory.pack
func.func @returned(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<2x2xf32>> {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %v = vm.reshape_tensor %b : (tensor<4xf32>) -> tensor<2x2xf32>
  %p = relay.tuple %a, %v : (tensor<4xf32>, tensor<2x2xf32>) -> tuple<tensor<4xf32>, tensor<2x2xf32>>
  func.return %p : tuple<tensor<4xf32>, tensor<2x2xf32>>
}

// -----

// What is in a cell of the caller keeps its storage.
//
// CHECK-LABEL: func.func @stored_in_a_cell
// CHECK-NOT:     memory.pack
// CHECK:         memory.alloc_storage 16
// CHECK:         memory.alloc_storage 16
// CHECK-NOT:     memory.pack
func.func @stored_in_a_cell(%x: tensor<4xf32>, %r: !relay.ref<tensor<4xf32>>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  relay.ref_write %r, %b : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  func.return
}

// -----

// What a closure that is returned captures keeps its storage.
//
// CHECK-LABEL: func.func @captured
// CHECK-NOT:     memory.pack
// CHECK:         memory.alloc_storage 16
// CHECK:         memory.alloc_storage 16
// CHECK-NOT:     memory.pack
func.func @captured(%x: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %c = relay.closure @g(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  func.return %c : (tensor<4xf32>) -> tensor<4xf32>
}
func.func @g(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

// What a callee may return is returned with its result.
//
// CHECK-LABEL: func.func @returned_by_a_callee
// CHECK-NOT:     memory.pack
// CHECK:         memory.alloc_storage 16
// CHECK:         memory.alloc_storage 16
// CHECK-NOT:     memory.pack
func.func @returned_by_a_callee(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %r, %q = func.call @swap(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}
func.func @swap(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  func.return %b, %a : tensor<4xf32>, tensor<4xf32>
}
