// RUN: xrelay-opt --split-input-file -p expand-packs %s | filecheck %s

// A slice starts at the end of the slice that it lies on, rounded up.
//
// CHECK-LABEL: func.func @ordered
// CHECK:         %[[A:.*]] = arith.maxsi %a, %{{.*}} : i64
// CHECK:         %[[UP:.*]] = arith.addi %[[A]], %{{.*}} : i64
// CHECK:         %[[AT:.*]] = arith.andi %[[UP]], %{{.*}} : i64
// CHECK-NOT:     memory.pack
// CHECK:         "test.op"(%{{.*}}, %{{.*}}, %[[AT]])
func.func @ordered(%a: i64, %b: i64) {
  %pack = memory.pack ordered align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) %a
  %offsets_1 = memory.slice %pack [1, 3) %b on (%offsets_0)
  %total = memory.total %pack
  "test.op"(%total, %offsets_0, %offsets_1) : (i64, i64, i64) -> ()
  func.return
}

// -----

// Of two orders, the smaller total is taken when the program runs.
//
// CHECK-LABEL: func.func @two_orders
// CHECK:         arith.cmpi slt
// CHECK:         arith.select
// CHECK-NOT:     memory.pack
func.func @two_orders(%a: i64, %b: i64) {
  %pack = memory.pack smallest of 2 align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) %a on () or (1)
  %offsets_1 = memory.slice %pack [1, 3) %b on (0) or ()
  %total = memory.total %pack
  "test.op"(%total, %offsets_0, %offsets_1) : (i64, i64, i64) -> ()
  func.return
}

// -----

// Slices beside each other start where the first one does: no offset can be negative, and equal
// sizes below them are not compared.
//
// CHECK-LABEL: func.func @beside_each_other
// CHECK-COUNT-2: arith.maxsi
// CHECK-NOT:     arith.maxsi
// CHECK:         "test.op"
func.func @beside_each_other(%a: i64, %b: i64) {
  %pack = memory.pack ordered align 64 : !memory.pack
  %one = memory.slice %pack [0, 2) %a
  %two = memory.slice %pack [0, 2) %a
  %three = memory.slice %pack [1, 3) %b on (%one, %two)
  %four = memory.slice %pack [1, 3) %b beside %three
  %total = memory.total %pack
  "test.op"(%total, %one, %two, %three, %four) : (i64, i64, i64, i64, i64) -> ()
  func.return
}
