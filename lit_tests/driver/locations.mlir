// RUN: xrelay-opt %s --print-debuginfo -p canonicalize | filecheck %s

// Ops and block arguments have the place of their name; a location in the text wins.
//
// CHECK:      func.func @f(%a: i32 loc("{{.*}}locations.mlir":9:14)) {
// CHECK-NEXT:   %b = "test.op"() : () -> i32 loc("{{.*}}locations.mlir":10:8)
// CHECK-NEXT:   "test.op"(%a, %b) : (i32, i32) -> () loc("model.py":7:3)
// CHECK-NEXT:   func.return loc("{{.*}}locations.mlir":12:3)
func.func @f(%a: i32) {
  %b = "test.op"() : () -> i32
  "test.op"(%a, %b) : (i32, i32) -> () loc("model.py":7:3)
  func.return
}
