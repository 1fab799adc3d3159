// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s

// Equal closures share a function, whatever they capture and are called.
//
// CHECK-LABEL: @equal(
// CHECK-NEXT:    %f = relay.closure @equal_f(%x)
// CHECK-NEXT:    %g = relay.closure @equal_f(%y)
// CHECK:       func.func private @equal_f(
// CHECK:         func.return
// CHECK-NEXT:  }
// CHECK-NEXT:  {{^}}}
func.func @equal(%x: tensor<f32, #relay.device<cpu:0>>, %y: tensor<f32, #relay.device<cpu:0>>) {
  %f = relay.fn () -> tensor<f32, #relay.device<cpu:0>> {
    %0 = relay.exp %x : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
  }
  %g = relay.fn () -> tensor<f32, #relay.device<cpu:0>> {
    %other = relay.exp %y : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %other : tensor<f32, #relay.device<cpu:0>>
  }
  "test.op"(%f, %g) : (() -> tensor<f32, #relay.device<cpu:0>>, () -> tensor<f32, #relay.device<cpu:0>>) -> ()
  func.return
}

// -----

// Functions are shared through the module.
//
// CHECK-LABEL: @one(
// CHECK-NEXT:    relay.global @one_f
// CHECK-LABEL: @two(
// CHECK-NEXT:    relay.global @one_f
func.func @one() -> ((tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>) {
  %f = relay.fn (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    relay.yield %a : tensor<f32, #relay.device<cpu:0>>
  }
  func.return %f : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
}
func.func @two() -> ((tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>) {
  %f = relay.fn (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    relay.yield %a : tensor<f32, #relay.device<cpu:0>>
  }
  func.return %f : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
}

// -----

// Equal recursive closures, with closures in them, share a function, too.
//
// CHECK-LABEL: @recursive(
// CHECK-NEXT:    relay.closure @recursive_f(%k)
// CHECK-NEXT:    relay.closure @recursive_f(%k)
// CHECK:       @recursive_f(
// CHECK:       func.func private @recursive_h(
// CHECK:         func.return
// CHECK-NEXT:  }
// CHECK-NEXT:  {{^}}}
func.func @recursive(%k: tensor<f32, #relay.device<cpu:0>>) {
  %f = relay.fn rec(%self) (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    %h = relay.fn () -> tensor<f32, #relay.device<cpu:0>> {
      %0 = relay.call %self(%k) : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
      relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
    }
    %0 = relay.call %h() : () -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
  }
  %g = relay.fn rec(%self) (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    %h = relay.fn () -> tensor<f32, #relay.device<cpu:0>> {
      %0 = relay.call %self(%k) : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
      relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
    }
    %0 = relay.call %h() : () -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
  }
  "test.op"(%f, %g) : ((tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>, (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>) -> ()
  func.return
}

// -----

// Closures on different devices, with other constants, attributes or wiring do not share one.
//
// CHECK-LABEL: @different(
// CHECK-NEXT:    relay.global @different_f :
// CHECK-NEXT:    relay.global @different_f_1 :
// CHECK-NEXT:    relay.global @different_f_2 :
// CHECK-NEXT:    relay.global @different_f_3 :
// CHECK-NEXT:    relay.global @different_f_4 :
// CHECK-NEXT:    relay.global @different_f_5 :
func.func @different() {
  %one = relay.constant dense<1.0> : tensor<f32> on #relay.device<cpu:0>
  %two = relay.constant dense<2.0> : tensor<f32> on #relay.device<cpu:0>
  %f = relay.fn (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    %0 = relay.subtract %a, %one : (tensor<f32, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
  }
  %f_1 = relay.fn (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    %0 = relay.subtract %a, %two : (tensor<f32, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
  }
  %f_2 = relay.fn (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    %0 = relay.subtract %one, %a : (tensor<f32, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
  }
  %f_3 = relay.fn (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    %0 = "test.op"(%a) {note = "x"} : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
  }
  %f_4 = relay.fn (%a: tensor<f32, #relay.device<cuda:0>>) -> tensor<f32, #relay.device<cuda:0>> {
    relay.yield %a : tensor<f32, #relay.device<cuda:0>>
  }
  %f_5 = relay.fn (%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
    %0 = "test.op"(%a) {note = "y"} : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<f32, #relay.device<cpu:0>>
  }
  "test.op"(%f, %f_1, %f_2, %f_3, %f_4, %f_5) : ((tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>, (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>, (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>, (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>, (tensor<f32, #relay.device<cuda:0>>) -> tensor<f32, #relay.device<cuda:0>>, (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>) -> ()
  func.return
}

// -----

// Before planning equal closures do not share a function: they may yet be on different devices.
//
// CHECK-LABEL: @unplanned(
// CHECK-NEXT:    relay.global @unplanned_f :
// CHECK-NEXT:    relay.global @unplanned_g :
func.func @unplanned() {
  %f = relay.fn (%a: tensor<f32>) -> tensor<f32> {
    relay.yield %a : tensor<f32>
  }
  %g = relay.fn (%a: tensor<f32>) -> tensor<f32> {
    relay.yield %a : tensor<f32>
  }
  "test.op"(%f, %g) : ((tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>) -> ()
  func.return
}
