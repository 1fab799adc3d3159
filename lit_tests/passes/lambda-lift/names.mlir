// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p lambda-lift,lambda-lift %s | filecheck %s

// A function is named after the function and the closure; names that are taken get a number.
//
// CHECK-LABEL: @main(
// CHECK-NEXT:    %f = relay.global @main_f_1 :
// CHECK-NEXT:    %[[L:.*]] = relay.global @main_lambda :
// CHECK-NEXT:    "test.op"(%f, %[[L]])
// CHECK:       @main_f_1(
// CHECK:       @main_lambda(
// CHECK:       @main_f(
func.func @main() {
  %f = relay.fn () -> tuple<> {
    %t = relay.tuple : () -> tuple<>
    relay.yield %t : tuple<>
  }
  %0 = relay.fn () -> tuple<> {
    %t = relay.tuple : () -> tuple<>
    relay.yield %t : tuple<>
  }
  "test.op"(%f, %0) : (() -> tuple<>, () -> tuple<>) -> ()
  func.return
}
func.func @main_f() {
  func.return
}

// -----

// Relay's attributes and other attributes of the closure become the function's.
//
// CHECK:       @attributes_f(%a: tensor<f32>) -> tensor<f32> attributes {test.note = "x", relay.attrs = {Inline = 1 : i64}}
func.func @attributes() -> ((tensor<f32>) -> tensor<f32>) {
  %f = relay.fn (%a: tensor<f32>) -> tensor<f32> attributes {attrs = {Inline = 1 : i64}, test.note = "x"} {
    relay.yield %a : tensor<f32>
  }
  func.return %f : (tensor<f32>) -> tensor<f32>
}
