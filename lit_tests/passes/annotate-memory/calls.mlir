// RUN: xrelay-opt -p annotate-memory %s | filecheck %s

// Two tensors of 64 bytes are alive at the second call; after it the first is not, and the third
// is where it was.
//
// CHECK-LABEL: func.func @main
// CHECK:         memory.alloc_tensor %s0[0] {xrelay.storage_id = 0 : i64}
// CHECK-NEXT:    memory.copy ins(%x : tensor<16xf32>) {{.*}}{xrelay.used_memory = 64 : i64}
// CHECK:         memory.alloc_tensor %s1[0] {xrelay.storage_id = 1 : i64}
// CHECK-NEXT:    memory.copy ins(%a : tensor<16xf32>) {{.*}}{xrelay.used_memory = 128 : i64}
// CHECK:         memory.alloc_tensor %s0[0] {xrelay.storage_id = 0 : i64}
// CHECK-NEXT:    memory.copy ins(%b : tensor<16xf32>) {{.*}}{xrelay.used_memory = 128 : i64}
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t1 : tensor<16xf32>) -> tensor<16xf32>
  memory.kill %a : tensor<16xf32>
  %t2 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %c = memory.copy ins(%b : tensor<16xf32>) outs(%t2 : tensor<16xf32>) -> tensor<16xf32>
  func.return %c : tensor<16xf32>
}

// Sizes that depend on dims are not stated.
//
// CHECK-LABEL: func.func @rows
// CHECK:         {xrelay.storage_id = 0 : i64}
// CHECK-NOT:     xrelay.used_memory
func.func @rows(%x: tensor<?xf32>) -> tensor<?xf32> {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %c0 = arith.constant 0 : index
  %n = tensor.extract %shape[%c0] : tensor<1xi64>
  %c4 = arith.constant 4 : i64
  %bytes = arith.muli %n, %c4 : i64
  %s0 = memory.alloc_storage %bytes align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t0 : tensor<?xf32>) -> tensor<?xf32>
  func.return %a : tensor<?xf32>
}
