// RUN: xrelay-opt %s -p "cse,vm" --print-ir-after=vm -o %t.out 2>&1 | filecheck %s
// RUN: xrelay-opt %s -p "cse,vm" --timing -o %t.out 2>&1 | filecheck %s --check-prefix=TIMES

// A pipeline may be named wherever a pass may, and is a branch of the times.
//
// CHECK-NOT:  IR Dump After cse
// CHECK:      IR Dump After infer-types
// CHECK:      IR Dump After lower-to-bytecode
// TIMES:      {{^}} {{.*}}%)  cse
// TIMES:      {{^}} {{.*}}%)  pipeline 'vm'
// TIMES-NEXT: {{^}} {{.*}}%)    infer-types
func.func @f(%a: tensor<f32>) -> tensor<f32> {
  func.return %a : tensor<f32>
}
