// RUN: xrelay-opt --split-input-file -p canonicalize %s | filecheck %s

// Each part is a module of its own, and names may come again.
//
// CHECK:      builtin.module
// CHECK:        func.func @same
// CHECK-NEXT:     func.return
// CHECK:      // -----
// CHECK-NEXT: builtin.module
// CHECK:        func.func @same
func.func @same() {
  %dead = arith.constant 1 : i32
  func.return
}

// -----

// -----// a comment that only looks like a mark //----- //
func.func @same() {
  func.return
}
