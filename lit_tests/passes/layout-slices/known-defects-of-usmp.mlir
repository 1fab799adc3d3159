// RUN: xrelay-opt --split-input-file -p layout-slices %s | filecheck %s

// What TVM's USMP gets wrong.

// Lifetimes are half-open: one that ends where another starts leaves its bytes to it (USMP lets
// them conflict).
//
// CHECK-LABEL: func.func @touching_lifetimes
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 64 align 64
// CHECK-NEXT:    memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:    memory.alloc_tensor %[[S]][0]
func.func @touching_lifetimes() {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 1) 64
  %offsets_1 = memory.slice %pack [1, 2) 64
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_0] : tensor<16xf32>
  %b = memory.alloc_tensor %s[%offsets_1] : tensor<16xf32>
  func.return
}

// -----

// Holes are filled: the largest two at the bottom, one in the hole that the second leaves (USMP
// places on top of all that conflict, and needs 384).
//
// CHECK-LABEL: func.func @holes
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 320 align 64
// CHECK-NEXT:    %a = memory.alloc_tensor
// CHECK-NEXT:    %b = memory.alloc_tensor %[[S]][[[AT:[0-9]+]]] : tensor<32xf32>
// CHECK-NEXT:    %c = memory.alloc_tensor %[[S]][256] : tensor<16xf32>
// CHECK-NEXT:    %d = memory.alloc_tensor %[[S]][[[AT]]] : tensor<16xf32>
func.func @holes() {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 4) 128
  %offsets_1 = memory.slice %pack [0, 2) 128
  %offsets_2 = memory.slice %pack [1, 4) 64
  %offsets_3 = memory.slice %pack [2, 4) 64
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_0] : tensor<32xf32>
  %b = memory.alloc_tensor %s[%offsets_1] : tensor<32xf32>
  %c = memory.alloc_tensor %s[%offsets_2] : tensor<16xf32>
  %d = memory.alloc_tensor %s[%offsets_3] : tensor<16xf32>
  func.return
}

// -----

// Each offset is a multiple of the alignment, whatever the sizes below it are (USMP rounds up to
// the alignment of the neighbour).
//
// CHECK-LABEL: func.func @alignment
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 132 align 128
// CHECK-NEXT:    memory.alloc_tensor %[[S]][{{0|128}}]
// CHECK-NEXT:    memory.alloc_tensor %[[S]][{{0|128}}]
func.func @alignment() {
  %pack = memory.pack align 128 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) 4
  %offsets_1 = memory.slice %pack [1, 3) 4
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 128 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_0] : tensor<1xf32>
  %b = memory.alloc_tensor %s[%offsets_1] : tensor<1xf32>
  func.return
}
