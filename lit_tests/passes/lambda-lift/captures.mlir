// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s

// A closure without captures becomes the value of a function.
//
// CHECK-LABEL: @no_captures(
// CHECK-NEXT:    %f = relay.global @no_captures_f : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %f
// CHECK:       func.func private @no_captures_f(%a: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %[[N:.*]] = relay.negative %a
// CHECK-NEXT:    func.return %[[N]] : tensor<4xf32>
func.func @no_captures() -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

// Captured values become the first parameters, in order of first use.
//
// CHECK-LABEL: @captures(
// CHECK-NEXT:    %f = relay.closure @captures_f(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
// CHECK-NEXT:    func.return %f
// CHECK:       @captures_f(%y: tensor<4xf32>, %x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %[[S:.*]] = relay.add %a, %y
// CHECK-NEXT:    %[[T:.*]] = relay.add %[[S]], %x
// CHECK-NEXT:    relay.add %[[T]], %y
func.func @captures(%x: tensor<4xf32>, %y: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = relay.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = relay.add %1, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

// What a branch in the closure uses is captured, too.
//
// CHECK-LABEL: @in_a_branch(
// CHECK-NEXT:    relay.closure @in_a_branch_f(%c, %x)
// CHECK:       @in_a_branch_f(%c: tensor<i1>, %x: tensor<4xf32>, %a: tensor<4xf32>)
// CHECK:           relay.yield %x
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %a
func.func @in_a_branch(%c: tensor<i1>, %x: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
      relay.yield %x : tensor<4xf32>
    } else {
      relay.yield %a : tensor<4xf32>
    }
    relay.yield %0 : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

// Constants and functions of the module are not captured: the function makes its own.
//
// CHECK-LABEL: @constants(
// CHECK-NEXT:    %f = relay.global @constants_f : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %f
// CHECK:       @constants_f(%a: tensor<4xf32>)
// CHECK-NEXT:    %one = relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %w = relay.param "w" : tensor<4xf32>
// CHECK-NEXT:    %[[S:.*]] = relay.add %a, %one
// CHECK-NEXT:    %[[T:.*]] = relay.add %[[S]], %w
// CHECK-NEXT:    func.call @g(%[[T]])
func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}
func.func @constants() -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %one = relay.constant dense<1.0> : tensor<f32>
  %w = relay.param "w" : tensor<4xf32>
  %g = relay.global @g : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.add %a, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = relay.add %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = relay.call %g(%1) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

// A constant that is used outside, too, stays there.
//
// CHECK-LABEL: @shared_constant(
// CHECK-NEXT:    %one = relay.constant
// CHECK-NEXT:    %[[R:.*]] = func.call @shared_constant_f(%one)
// CHECK-NEXT:    func.return %[[R]]
// CHECK:       @shared_constant_f(%a: tensor<f32>)
// CHECK-NEXT:    %one = relay.constant
// CHECK-NEXT:    relay.add %a, %one
func.func @shared_constant() -> tensor<f32> {
  %one = relay.constant dense<1.0> : tensor<f32>
  %f = relay.fn (%a: tensor<f32>) -> tensor<f32> {
    %0 = relay.add %a, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %0 : tensor<f32>
  }
  %r = relay.call %f(%one) : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// -----

// Functions, data, references and tuples are captured like tensors.
//
// CHECK-LABEL: @kinds(
// CHECK:         relay.closure @kinds_f(%g, %r, %t) : ((tensor<i32>) -> tensor<i32>, !relay.ref<tensor<i32>>, tuple<tensor<i32>>) -> (() -> tuple<tensor<i32>>)
func.func @kinds(%g: (tensor<i32>) -> tensor<i32>, %r: !relay.ref<tensor<i32>>, %t: tuple<tensor<i32>>) -> (() -> tuple<tensor<i32>>) {
  %f = relay.fn () -> tuple<tensor<i32>> {
    %0 = "test.op"(%g, %r, %t) : ((tensor<i32>) -> tensor<i32>, !relay.ref<tensor<i32>>, tuple<tensor<i32>>) -> tuple<tensor<i32>>
    relay.yield %0 : tuple<tensor<i32>>
  }
  func.return %f : () -> tuple<tensor<i32>>
}
