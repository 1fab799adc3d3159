// RUN: xrelay-opt --split-input-file -p coalesce-storage,layout-slices,expand-packs %s | filecheck %s

// What TVM's MemoryPlan gets wrong, with offsets.

// Dynamic totals are arithmetic on the sizes: no kernel is called for them, and nothing more is
// allocated (TVM needs another round of manifest-alloc for each).
//
// CHECK-LABEL: func.func @dynamic_total
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0
// CHECK-NEXT:    %[[N:.*]] = arith.maxsi %n, %[[ZERO]]
// CHECK-NEXT:    %[[C:.*]] = arith.constant 63
// CHECK-NEXT:    %[[UP:.*]] = arith.addi %[[N]], %[[C]]
// CHECK-NEXT:    %[[M:.*]] = arith.constant -64
// CHECK-NEXT:    %[[AT:.*]] = arith.andi %[[UP]], %[[M]]
// CHECK-NEXT:    %[[TOTAL:.*]] = arith.addi %[[AT]], %[[N]]
// CHECK-NEXT:    %[[ARENA:.*]] = memory.alloc_storage %[[TOTAL]] align 64
// CHECK-NEXT:    memory.alloc_tensor %[[ARENA]][0]
// CHECK-NEXT:    memory.alloc_tensor %[[ARENA]][%[[AT]]]
// CHECK-NEXT:    func.return
func.func @dynamic_total(%n: i64, %dims: tensor<1xi64>) {
  %s = memory.alloc_storage %n align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %s1 = memory.alloc_storage %n align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  func.return
}

// -----

// Offsets other than 0 are attributes of the tensors that kernels read and write there; that they
// do is tested in `tests/runtime/test_machine.py` (TVM's kernels reject them).
//
// CHECK-LABEL: func.func @offsets
// CHECK:         %[[T:.*]] = memory.alloc_tensor %[[S:.*]][64] : tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = memory.copy ins(%{{.*}}) outs(%[[T]] :
func.func @offsets(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
