// RUN: xrelay-opt --split-input-file -p coalesce-storage,layout-slices %s | filecheck %s

// Offsets are rounded to the alignment, and constant: nothing is left to fold or to allocate for.
//
// CHECK-LABEL: func.func @constant_offsets
// CHECK-NEXT:    %[[S:[a-z0-9_]+]] = memory.alloc_storage 84 align 64
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][64]
// CHECK-NEXT:    func.return
func.func @constant_offsets() {
  %s0 = memory.alloc_storage 20 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %s1 = memory.alloc_storage 20 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  func.return
}
