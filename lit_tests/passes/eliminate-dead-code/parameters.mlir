// RUN: xrelay-opt --split-input-file -p eliminate-dead-code %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p eliminate-dead-code,eliminate-dead-code %s | filecheck %s

// A parameter that a private function does not use goes, with what its calls pass for it.
//
// CHECK-LABEL: @main(
// CHECK-NEXT:    func.call @first(%x) : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT:    relay.invoke @first(%x) : (tensor<i32>) -> tensor<i32>
// CHECK:       @first(%a: tensor<i32> {relay.name = "a"}) -> tensor<i32>
func.func @main(%x: tensor<i32>) -> tuple<tensor<i32>, tensor<i32>> {
  %e = relay.negative %x : (tensor<i32>) -> tensor<i32>
  %0 = func.call @first(%x, %e) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = relay.invoke @first(%x, %e) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %t = relay.tuple %0, %1 : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>
  func.return %t : tuple<tensor<i32>, tensor<i32>>
}
func.func private @first(%a: tensor<i32> {relay.name = "a"}, %b: tensor<i32> {relay.name = "b"}) -> tensor<i32> {
  func.return %a : tensor<i32>
}

// -----

// A captured value of a closure goes like an argument; a parameter of the closure itself stays.
//
// CHECK-LABEL: @captured(
// CHECK-NEXT:    %f = relay.closure @second(%y) : (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
// CHECK-NEXT:    func.return %f
// CHECK:       @second(%b: tensor<i32>, %c: tensor<i32>) -> tensor<i32>
func.func @captured(%x: tensor<i32>, %y: tensor<i32>) -> ((tensor<i32>) -> tensor<i32>) {
  %f = relay.closure @second(%x, %y) : (tensor<i32>, tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
  func.return %f : (tensor<i32>) -> tensor<i32>
}
func.func private @second(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>) -> tensor<i32> {
  func.return %b : tensor<i32>
}

// -----

// A parameter that a recursive function only passes to itself goes.
//
// CHECK-LABEL: @passes(
// CHECK-NEXT:    func.call @loop(%x)
// CHECK:       @loop(%a: tensor<i32>) -> tensor<i32>
// CHECK-NEXT:    %[[N:.*]] = relay.negative %a
// CHECK-NEXT:    func.call @loop(%[[N]]) : (tensor<i32>) -> tensor<i32>
func.func @passes(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = func.call @loop(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %0 : tensor<i32>
}
func.func private @loop(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %n = relay.negative %a : (tensor<i32>) -> tensor<i32>
  %0 = func.call @loop(%n, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %0 : tensor<i32>
}

// -----

// Functions that pass parameters to each other lose them one after the other.
//
// CHECK-LABEL: @mutual(
// CHECK-NEXT:    func.call @one(%x)
// CHECK:       @one(%a: tensor<i32>) -> tensor<i32>
// CHECK-NEXT:    "test.op"(%a)
// CHECK-NEXT:    func.call @two(%a)
// CHECK:       @two(%a: tensor<i32>) -> tensor<i32>
// CHECK-NEXT:    func.call @one(%a)
func.func @mutual(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = func.call @one(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %0 : tensor<i32>
}
func.func private @one(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %e = relay.negative %b : (tensor<i32>) -> tensor<i32>
  "test.op"(%a) : (tensor<i32>) -> ()
  %0 = func.call @two(%a, %e) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %0 : tensor<i32>
}
func.func private @two(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = func.call @one(%a, %a) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %0 : tensor<i32>
}

// -----

// An unused value of a function does not keep its parameters.
//
// CHECK-LABEL: @unused_value(
// CHECK-NEXT:    func.call @callee() : () -> ()
// CHECK-NEXT:    func.return
// CHECK:       @callee()
func.func @unused_value(%x: tensor<i32>) {
  %f = relay.global @ignores : (tensor<i32>) -> tensor<i32>
  func.call @callee(%f) : ((tensor<i32>) -> tensor<i32>) -> ()
  func.return
}
func.func private @callee(%f: (tensor<i32>) -> tensor<i32>) {
  "test.op"() : () -> ()
  func.return
}
func.func private @ignores(%a: tensor<i32>) -> tensor<i32> {
  %c = relay.constant dense<0> : tensor<i32>
  func.return %c : tensor<i32>
}

// -----

// Public functions keep theirs, and so do functions that are values or named by other ops.
//
// CHECK-LABEL: @keep(
// CHECK:       @public(%a: tensor<i32>)
// CHECK:       @value(%a: tensor<i32>)
// CHECK:       @named(%a: tensor<i32>)
func.func @keep(%x: tensor<i32>) -> (() -> ()) {
  func.call @public(%x) : (tensor<i32>) -> ()
  func.call @value(%x) : (tensor<i32>) -> ()
  func.call @named(%x) : (tensor<i32>) -> ()
  %g = "test.op"() {callee = @named} : () -> (() -> ())
  func.return %g : () -> ()
}
func.func @public(%a: tensor<i32>) {
  "test.op"() : () -> ()
  func.return
}
func.func private @value(%a: tensor<i32>) {
  "test.op"() {callee = @value} : () -> ()
  func.return
}
func.func private @named(%a: tensor<i32>) {
  "test.op"() : () -> ()
  func.return
}
