// RUN: not xrelay-opt %s 2>&1 | filecheck %s

// A syntax error shows its place, the source line and a caret, and nothing is printed.
//
// CHECK-NOT:  builtin.module
// CHECK:      syntax-error.mlir:13:21: error: attribute expected
// CHECK-NEXT:   "test.op"() {attr = , other} : () -> ()
// CHECK-NEXT: {{^}}                    ^
// CHECK-NOT:  Traceback
func.func @f() {
  func.return
}
"test.op"() {attr = , other} : () -> ()
