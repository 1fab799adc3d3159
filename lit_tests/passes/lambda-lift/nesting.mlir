// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s

// A closure that a closure makes captures from both, and so does the outer one.
//
// CHECK-LABEL: @curried(
// CHECK-NEXT:    relay.closure @curried_f(%x) : (tensor<i32>) -> ((tensor<i32>) -> ((tensor<i32>) -> tensor<i32>))
// CHECK:       @curried_f(%x: tensor<i32>, %a: tensor<i32>) -> ((tensor<i32>) -> tensor<i32>) {
// CHECK-NEXT:    relay.closure @curried_g(%a, %x) : (tensor<i32>, tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
// CHECK:       @curried_g(%a: tensor<i32>, %x: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:    %[[S:.*]] = relay.add %a, %b
// CHECK-NEXT:    relay.add %[[S]], %x
func.func @curried(%x: tensor<i32>) -> ((tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)) {
  %f = relay.fn (%a: tensor<i32>) -> (tensor<i32>) -> tensor<i32> {
    %g = relay.fn (%b: tensor<i32>) -> tensor<i32> {
      %0 = relay.add %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %1 = relay.add %0, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %1 : tensor<i32>
    }
    relay.yield %g : (tensor<i32>) -> tensor<i32>
  }
  func.return %f : (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
}

// -----

// A closure may capture another one.
//
// CHECK-LABEL: @captured_closure(
// CHECK-NEXT:    %f = relay.closure @captured_closure_f(%x)
// CHECK-NEXT:    func.call @captured_closure_g(%f, %x)
// CHECK:       @captured_closure_f(%x: tensor<i32>, %a: tensor<i32>)
// CHECK:       @captured_closure_g(%f: (tensor<i32>) -> tensor<i32>, %b: tensor<i32>)
// CHECK-NEXT:    relay.call %f(%b)
func.func @captured_closure(%x: tensor<i32>) -> tensor<i32> {
  %f = relay.fn (%a: tensor<i32>) -> tensor<i32> {
    %0 = relay.add %a, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
    relay.yield %0 : tensor<i32>
  }
  %g = relay.fn (%b: tensor<i32>) -> tensor<i32> {
    %0 = relay.call %f(%b) : (tensor<i32>) -> tensor<i32>
    relay.yield %0 : tensor<i32>
  }
  %r = relay.call %g(%x) : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// -----

// Closures in branches and cases are lifted, too.
//
// CHECK-LABEL: @in_branches(
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.closure @in_branches_f(%x)
// CHECK:         } else {
// CHECK-NEXT:      relay.global @in_branches_g
func.func @in_branches(%c: tensor<i1>, %x: tensor<i32>) -> (() -> tensor<i32>) {
  %r = relay.if %c : tensor<i1> -> (() -> tensor<i32>) {
    %f = relay.fn () -> tensor<i32> {
      relay.yield %x : tensor<i32>
    }
    relay.yield %f : () -> tensor<i32>
  } else {
    %g = relay.fn () -> tensor<i32> {
      %0 = relay.constant dense<0> : tensor<i32>
      relay.yield %0 : tensor<i32>
    }
    relay.yield %g : () -> tensor<i32>
  }
  func.return %r : () -> tensor<i32>
}
