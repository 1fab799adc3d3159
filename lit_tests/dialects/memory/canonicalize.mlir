// RUN: xrelay-opt --split-input-file -p canonicalize %s | filecheck %s

// Constant sizes and offsets, and sums of two constants, become attributes.
//
// CHECK-LABEL: @constants
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 64 align 64
// CHECK-NEXT:    %[[P:.*]] = memory.slice_storage %[[S]][16] size 32 align 16
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[P]][16] : tensor<4xf32>
// CHECK-NEXT:    memory.copy ins(%x : tensor<4xf32>) outs(%[[T]]
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c16 = arith.constant 16 : i64
  %c64 = arith.constant 64 : i64
  %c32 = arith.addi %c16, %c16 : i64
  %s = memory.alloc_storage %c64 align 64 : !memory.storage
  %p = memory.slice_storage %s[%c16] size %c32 align 16 : !memory.storage
  %t = memory.alloc_tensor %p[%c16] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A negative size stays, for the machine to reject.
//
// CHECK-LABEL: @negative
// CHECK:         memory.alloc_storage %{{.*}} align 64
func.func @negative() -> !memory.storage {
  %c = arith.constant -1 : i64
  %s = memory.alloc_storage %c align 64 : !memory.storage
  func.return %s : !memory.storage
}
