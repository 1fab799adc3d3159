// RUN: xrelay-opt --split-input-file -p layout-slices %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p layout-slices,expand-packs %s | filecheck %s --check-prefix=EXPANDED

// Parts of a whole live each their own time: what comes after the first part may lie in its bytes.
//
// CHECK-LABEL: func.func @parts
// CHECK:         %[[PACK:.*]] = memory.pack ordered align 64
// CHECK-NEXT:    %[[C:.*]] = memory.slice %[[PACK]] [3, 5) %m
// CHECK-NEXT:    %[[A:.*]] = memory.slice %[[PACK]] [0, 2) %n
// CHECK-NEXT:    %[[B:.*]] = memory.slice %[[PACK]] [1, 6) %n beside %[[A]] on (%[[C]])
// CHECK-NEXT:    %{{.*}} = memory.slice %[[PACK]] over %[[A]] to %[[B]]
// EXPANDED-LABEL: func.func @parts
// EXPANDED-NOT:     memory.pack
// EXPANDED:         %[[LOW:.*]] = arith.subi %[[M:.*]], %[[N:.*]] : i64
// EXPANDED:         %[[NATURAL:.*]] = arith.maxsi %[[LOW]],
// EXPANDED:         %[[A:.*]] = arith.andi
// EXPANDED-NEXT:    %[[B:.*]] = arith.addi %[[A]], %[[N]]
// EXPANDED:         "test.op"(%[[A]], %[[B]],
func.func @parts(%n: i64, %m: i64) {
  %pack = memory.pack align 64 : !memory.pack
  %a = memory.slice %pack [0, 2) %n
  %b = memory.slice %pack [1, 6) %n beside %a
  %w = memory.slice %pack over %a to %b
  %c = memory.slice %pack [3, 5) %m
  %total = memory.total %pack
  "test.op"(%a, %b, %c, %total) : (i64, i64, i64, i64) -> ()
  func.return
}

// -----

// Of static sizes, all is numbers: a slice fits into the gap of another, and pools have totals.
//
// CHECK-LABEL: func.func @numbers
// CHECK-NOT:     memory.pack
// CHECK:         "test.op"(%c0, %c0, %c0, %c128, %c64)
func.func @numbers() {
  %pack = memory.pack align 64 : !memory.pack
  %a = memory.slice %pack [0, 2) [4, 6) 128
  %b = memory.slice %pack [2, 4) 128
  %c = memory.slice %pack [0, 6) 64 pool 1
  %total = memory.total %pack
  %other = memory.total %pack pool 1
  "test.op"(%a, %b, %c, %total, %other) : (i64, i64, i64, i64, i64) -> ()
  func.return
}
