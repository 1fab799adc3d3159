// RUN: xrelay-opt --split-input-file -p layout-slices %s | filecheck %s

// Offsets are chosen by lifetimes, and become attributes of the allocations.
//
// CHECK-LABEL: func.func @reuses_bytes
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 164 align 64
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0] : tensor<16xf32>
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][64] : tensor<25xf32>
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0] : tensor<16xf32>
// CHECK-NEXT:    func.return
func.func @reuses_bytes() {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) 64    // at 0
  %offsets_1 = memory.slice %pack [1, 3) 100   // at 64
  %offsets_2 = memory.slice %pack [2, 4) 64    // at 0: the first is dead
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_0] : tensor<16xf32>
  %b = memory.alloc_tensor %s[%offsets_1] : tensor<25xf32>
  %c = memory.alloc_tensor %s[%offsets_2] : tensor<16xf32>
  func.return
}

// -----

// A slice with an alignment of its own starts at a multiple of it, not of that of the pack.
//
// CHECK-LABEL: func.func @is_aligned_by_itself
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 112 align 256
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][64] : tensor<12xf32>
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0] : tensor<16xf32>
func.func @is_aligned_by_itself() {
  %pack = memory.pack align 256 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) 48 align 16
  %offsets_1 = memory.slice %pack [0, 2) 64
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 256 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_0] : tensor<12xf32>
  %b = memory.alloc_tensor %s[%offsets_1] : tensor<16xf32>
  func.return
}

// -----

// Slices in different arms of a branch may overlap, even while both are alive in program order.
//
// CHECK-LABEL: func.func @arms_exclude_each_other
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 128 align 64
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][64]
func.func @arms_exclude_each_other() {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 4) 64 in (0:0)
  %offsets_1 = memory.slice %pack [1, 4) 64 in (0:1)
  %offsets_2 = memory.slice %pack [0, 5) 64
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_0] : tensor<16xf32>
  %b = memory.alloc_tensor %s[%offsets_1] : tensor<16xf32>
  %c = memory.alloc_tensor %s[%offsets_2] : tensor<16xf32>
  func.return
}

// -----

// A size that is a constant value is a static size; an offset within a slice is added.
//
// CHECK-LABEL: func.func @constant_operands
// CHECK:         %[[S:.*]] = memory.alloc_storage 96 align 32
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][64] : tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][80] : tensor<4xf32>
// CHECK-NEXT:    "test.op"
func.func @constant_operands() {
  %c64 = arith.constant 64 : i64
  %pack = memory.pack align 32 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) %c64
  %offsets_1 = memory.slice %pack [0, 2) 32
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 32 : !memory.storage
  %a = memory.alloc_tensor %s[%offsets_1] : tensor<4xf32>
  %c16 = arith.constant 16 : i64
  %at = arith.addi %offsets_1, %c16 : i64
  %b = memory.alloc_tensor %s[%at] : tensor<4xf32>
  "test.op"(%c64) : (i64) -> ()
  func.return
}

// -----

// A total that something else reads is a constant.
//
// CHECK-LABEL: func.func @total_is_read
// CHECK-NEXT:    %[[TOTAL:.*]] = arith.constant 65 : i64
// CHECK:         "test.op"(%[[TOTAL]])
func.func @total_is_read() {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 1) 1     // at 64
  %offsets_1 = memory.slice %pack [0, 1) 64    // at 0
  %total = memory.total %pack
  "test.op"(%total) : (i64) -> ()
  func.return
}
