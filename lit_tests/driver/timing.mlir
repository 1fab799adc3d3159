// RUN: xrelay-opt %s -p canonicalize,cse --timing -o %t.out 2>&1 | filecheck %s
// RUN: xrelay-opt %s -p canonicalize,cse --timing 2>/dev/null | filecheck %s --check-prefix=STDOUT

// Times are a tree on stderr, one row a pass, with the verifier apart.
//
// CHECK:      Execution time report
// CHECK:      Total Execution Time: {{[0-9.]+}} seconds
// CHECK:      {{[0-9.]+}} ({{ *[0-9.]+}}%)  parse
// CHECK-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  verify
// CHECK-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  canonicalize
// CHECK-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  verify
// CHECK-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  cse
// CHECK-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  verify
// CHECK-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  output
// CHECK-NEXT: {{[0-9.]+}} (100.0%)  Total
//
// STDOUT-NOT: Execution time
// STDOUT:     builtin.module
func.func @f() {
  func.return
}
