// RUN: xrelay-opt --split-input-file -p 'fuse-ops{max-args=4}' %s | filecheck %s
// RUN: not xrelay-opt -p 'fuse-ops{max-args=0}' %s 2>&1 | filecheck %s --check-prefix=ZERO

// ZERO: error: max-args must be at least 1, but is 0

// A primitive has at most `max-args` operands and results; the operator after it begins another.
//
// CHECK-LABEL: @sum
// CHECK-NEXT:    %[[S:.*]] = relay.primitive(%{{.*}} = %a : tensor<4xf32>, %{{.*}} = %b : tensor<4xf32>, %{{.*}} = %c : tensor<4xf32>)
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%{{.*}} = %[[S]] : tensor<4xf32>, %{{.*}} = %d : tensor<4xf32>, %{{.*}} = %e : tensor<4xf32>)
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.yield
func.func @sum(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.add %1, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.add %2, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// -----

// An operand that is used twice counts once, and a constant that moves inside does not count.
//
// CHECK-LABEL: @counted
// CHECK:         relay.primitive
// CHECK-NEXT:      relay.constant
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.multiply
// CHECK-NEXT:      relay.multiply
// CHECK-NEXT:      relay.multiply
// CHECK-NEXT:      relay.yield
func.func @counted(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %two = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.multiply %0, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.multiply %1, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.multiply %2, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// -----

// An operator that has more by itself has a primitive of its own.
//
// CHECK-LABEL: @alone
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.concatenate
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
func.func @alone(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<16xf32> {
  %0 = relay.concatenate %a, %b, %c, %d {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<16xf32>
  %1 = relay.exp %0 : (tensor<16xf32>) -> tensor<16xf32>
  func.return %1 : tensor<16xf32>
}
