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
