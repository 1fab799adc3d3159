// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s

// Without captures, a closure with type variables is a generic function as a value.
//
// CHECK-LABEL: @no_captures(
// CHECK-SAME:    relay.type_params = ["A", "B"]
// CHECK-NEXT:    relay.global @no_captures_f<[!relay.type_var<B>]> : (!relay.type_var<B>) -> !relay.type_var<B>
// CHECK:       @no_captures_f(%b: !relay.type_var<B>) -> !relay.type_var<B> attributes {relay.type_params = ["B"]} {
func.func @no_captures(%a: !relay.type_var<A>) -> ((!relay.type_var<B>) -> !relay.type_var<B>) attributes {relay.type_params = ["A", "B"]} {
  %f = relay.fn (%b: !relay.type_var<B>) -> !relay.type_var<B> {
    relay.yield %b : !relay.type_var<B>
  }
  func.return %f : (!relay.type_var<B>) -> !relay.type_var<B>
}

// -----

// With captures, their type variables are parameters, too.
//
// CHECK-LABEL: @captures(
// CHECK:         relay.closure @captures_f<[!relay.type_var<B>, !relay.type_var<A>]>(%a) : (!relay.type_var<A>) -> ((!relay.type_var<B>) -> !relay.type_var<A>)
// CHECK:       @captures_f(%a: !relay.type_var<A>, %b: !relay.type_var<B>) -> !relay.type_var<A> attributes {relay.type_params = ["B", "A"]} {
func.func @captures(%a: !relay.type_var<A>) -> ((!relay.type_var<B>) -> !relay.type_var<A>) attributes {relay.type_params = ["A", "B"]} {
  %f = relay.fn (%b: !relay.type_var<B>) -> !relay.type_var<A> {
    relay.yield %a : !relay.type_var<A>
  }
  func.return %f : (!relay.type_var<B>) -> !relay.type_var<A>
}

// -----

// A type variable that only a call in the body names is a parameter as well.
//
// CHECK-LABEL: @in_the_body(
// CHECK:         relay.global @in_the_body_f<[!relay.type_var<A>]>
// CHECK:       @in_the_body_f() -> tensor<i32> attributes {relay.type_params = ["A"]} {
// CHECK-NEXT:    relay.invoke @count<[!relay.type_var<A>]>()
func.func @count() -> tensor<i32> attributes {relay.type_params = ["A"]} {
  %0 = relay.constant dense<0> : tensor<i32>
  func.return %0 : tensor<i32>
}
func.func @in_the_body(%a: !relay.type_var<A>) -> (() -> tensor<i32>) attributes {relay.type_params = ["A"]} {
  %f = relay.fn () -> tensor<i32> {
    %0 = relay.invoke @count<[!relay.type_var<A>]>() : () -> tensor<i32>
    relay.yield %0 : tensor<i32>
  }
  func.return %f : () -> tensor<i32>
}

// -----

// A closure that calls a generic one around it has the type parameters of both.
//
// CHECK-LABEL: @recursive(
// CHECK:         relay.invoke @recursive_f<[!relay.type_var<A>]>(%x)
// CHECK:       @recursive_f(%a: !relay.type_var<A>)
// CHECK-NEXT:    relay.invoke @recursive_g<[!relay.type_var<A>]>(%a)
// CHECK:       @recursive_g(%a: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]}
// CHECK-NEXT:    relay.invoke @recursive_f<[!relay.type_var<A>]>(%a)
func.func @recursive(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  %f = relay.fn rec(%self) (%a: !relay.type_var<A>) -> !relay.type_var<A> {
    %g = relay.fn () -> !relay.type_var<A> {
      %0 = relay.call %self(%a) : (!relay.type_var<A>) -> !relay.type_var<A>
      relay.yield %0 : !relay.type_var<A>
    }
    %0 = relay.call %g() : () -> !relay.type_var<A>
    relay.yield %0 : !relay.type_var<A>
  }
  %r = relay.call %f(%x) : (!relay.type_var<A>) -> !relay.type_var<A>
  func.return %r : !relay.type_var<A>
}
