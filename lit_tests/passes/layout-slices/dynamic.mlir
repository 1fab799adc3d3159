// RUN: xrelay-opt --split-input-file -p layout-slices,expand-packs %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'layout-slices{strategy=coalesce},expand-packs' %s | filecheck %s --check-prefix=COALESCE

// Slices of dynamic sizes lie on each other in a fixed order: the last is where the first was.
//
// CHECK-LABEL: func.func @order_for_all_sizes
// CHECK:         %[[A:.*]] = arith.muli %n, %c64
// CHECK-NEXT:    %[[B:.*]] = arith.muli %n, %c128
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0
// CHECK-NEXT:    %[[B0:.*]] = arith.maxsi %[[B]], %[[ZERO]]
// CHECK-NEXT:    %[[A0:.*]] = arith.maxsi %[[A]], %[[ZERO]]
// CHECK-NEXT:    %[[AB:.*]] = arith.addi %[[B0]], %[[A0]]
// CHECK-NEXT:    memory.alloc_storage %[[AB]] align 64
// CHECK-NEXT:    "test.op"(%[[B0]], %[[ZERO]], %[[B0]])
// COALESCE-LABEL: func.func @order_for_all_sizes
// COALESCE:         %[[A:.*]] = arith.muli %n, %c64
// COALESCE-NEXT:    %[[B:.*]] = arith.muli %n, %c128
// COALESCE:         memory.alloc_storage
func.func @order_for_all_sizes(%n: i64) {
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %a = arith.muli %n, %c64 : i64
  %b = arith.muli %n, %c128 : i64
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) %a
  %offsets_1 = memory.slice %pack [1, 3) %b
  %offsets_2 = memory.slice %pack [2, 4) %a
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  "test.op"(%offsets_0, %offsets_1, %offsets_2) : (i64, i64, i64) -> ()
  func.return
}

// -----

// An offset is rounded up unless all sizes below are multiples of the alignment.
//
// CHECK-LABEL: func.func @rounded_up
// CHECK:         %[[A0:.*]] = arith.maxsi %a, %{{.*}} : i64
// CHECK:         %[[ABOVE:.*]] = arith.addi %[[A0]], %{{.*}} : i64
// CHECK-NEXT:    %[[MASK:.*]] = arith.constant -64 : i64
// CHECK-NEXT:    %[[AT:.*]] = arith.andi %[[ABOVE]], %[[MASK]] : i64
// CHECK-NEXT:    %[[TOTAL:.*]] = arith.addi %[[AT]], %[[A0]] : i64
// CHECK:         "test.op"(%[[TOTAL]]
func.func @rounded_up(%a: i64) {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 1) %a
  %offsets_1 = memory.slice %pack [0, 1) %a
  %total = memory.total %pack
  "test.op"(%total, %offsets_0, %offsets_1) : (i64, i64, i64) -> ()
  func.return
}

// -----

// When no order is good at all sizes, two are computed, and the smaller arena is taken.
//
// CHECK-LABEL: func.func @better_of_two
// CHECK:         %[[LESS:.*]] = arith.cmpi slt, %[[B:.*]], %[[A:.*]] : i64
// CHECK-NEXT:    %[[TOTAL:.*]] = arith.select %[[LESS]], %[[B]], %[[A]] : i64
// CHECK:         "test.op"(%[[TOTAL]])
func.func @better_of_two(%n: i64, %m: i64) {
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %c256 = arith.constant 256 : i64
  %n64 = arith.muli %n, %c64 : i64
  %n128 = arith.muli %n, %c128 : i64
  %m128 = arith.muli %m, %c128 : i64
  %m256 = arith.muli %m, %c256 : i64
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 3) %n128
  %offsets_1 = memory.slice %pack [2, 5) %n128
  %offsets_2 = memory.slice %pack [1, 3) %m256
  %offsets_3 = memory.slice %pack [2, 5) %n128
  %offsets_4 = memory.slice %pack [1, 2) %n64
  %offsets_5 = memory.slice %pack [2, 5) %m256
  %offsets_6 = memory.slice %pack [3, 6) %m128
  %total = memory.total %pack
  "test.op"(%total) : (i64) -> ()
  func.return
}

// -----

// Bytes that alignment alone costs are not worth a second order.
//
// CHECK-LABEL: func.func @one_order_of_unaligned_sizes
// CHECK-NOT:     arith.select
func.func @one_order_of_unaligned_sizes(%a: i64, %b: i64) {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 1) %a
  %offsets_1 = memory.slice %pack [0, 1) %b
  %total = memory.total %pack
  "test.op"(%total, %offsets_0, %offsets_1) : (i64, i64, i64) -> ()
  func.return
}

// -----

// A size that may be negative, as one of an arm that is not taken, counts as 0. Those of tensors
// never are.
//
// CHECK-LABEL: func.func @natural
// CHECK:         arith.maxsi %data,
// CHECK-NOT:     arith.maxsi
// CHECK:         func.return
// COALESCE-LABEL: func.func @natural
// COALESCE:         arith.maxsi %data,
// COALESCE-NOT:     arith.maxsi
// COALESCE:         func.return
func.func @natural(%x: tensor<?xf32>, %data: i64) {
  %i0 = arith.constant 0 : index
  %c64 = arith.constant 64 : i64
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %shape[%i0] : tensor<1xi64>
  %size = arith.muli %n, %c64 : i64
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 1) %size
  %offsets_1 = memory.slice %pack [0, 1) %data
  %total = memory.total %pack
  "test.op"(%total, %offsets_0, %offsets_1) : (i64, i64, i64) -> ()
  func.return
}
