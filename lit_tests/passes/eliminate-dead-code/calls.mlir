// RUN: xrelay-opt --split-input-file -p eliminate-dead-code %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p eliminate-dead-code,eliminate-dead-code %s | filecheck %s

// An unused call goes if the function has no effects, nor those that it calls.
//
// CHECK-LABEL: @calls(
// CHECK-NEXT:    func.call @writes(%x, %r)
// CHECK-NEXT:    func.call @calls_unknown(%f)
// CHECK-NEXT:    func.call @declared()
// CHECK-NEXT:    func.return
func.func @calls(%x: tensor<i32>, %r: !relay.ref<tensor<i32>>, %f: () -> tensor<i32>) {
  %0 = func.call @silent(%x) : (tensor<i32>) -> tensor<i32>
  %1 = relay.invoke @generic<[tensor<i32>]>(%x) : (tensor<i32>) -> tensor<i32>
  %2 = func.call @writes(%x, %r) : (tensor<i32>, !relay.ref<tensor<i32>>) -> tensor<i32>
  %3 = func.call @calls_unknown(%f) : (() -> tensor<i32>) -> tensor<i32>
  func.call @declared() : () -> ()
  func.return
}
func.func @silent(%x: tensor<i32>) -> tensor<i32> {
  %0 = relay.invoke @generic<[tensor<i32>]>(%x) : (tensor<i32>) -> tensor<i32>
  %1 = relay.add %0, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %1 : tensor<i32>
}
func.func @generic(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}
func.func @writes(%x: tensor<i32>, %r: !relay.ref<tensor<i32>>) -> tensor<i32> {
  %0 = relay.ref_write %r, %x : (!relay.ref<tensor<i32>>, tensor<i32>) -> tuple<>
  func.return %x : tensor<i32>
}
func.func @calls_unknown(%f: () -> tensor<i32>) -> tensor<i32> {
  %0 = relay.call %f() : () -> tensor<i32>
  func.return %0 : tensor<i32>
}
func.func private @declared()

// -----

// A call of a recursive function stays, as it may not end.
//
// CHECK-LABEL: @recursive(
// CHECK-NEXT:    func.call @loop(%x)
func.func @recursive(%x: tensor<i32>) {
  %0 = func.call @loop(%x) : (tensor<i32>) -> tensor<i32>
  func.return
}
func.func @loop(%x: tensor<i32>) -> tensor<i32> {
  %0 = func.call @loop(%x) : (tensor<i32>) -> tensor<i32>
  func.return %0 : tensor<i32>
}
