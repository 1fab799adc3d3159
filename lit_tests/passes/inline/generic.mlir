// RUN: xrelay-opt --split-input-file -p inline %s | filecheck %s

// Type variables become the type arguments, in types and in calls; those on a device stay there.
//
// CHECK-LABEL: @calls(
// CHECK-NEXT:    %[[T:.*]] = relay.tuple %x : (tensor<4xf32, #cpu0>) -> tuple<tensor<4xf32, #cpu0>>
// CHECK-NEXT:    relay.invoke @count<[tensor<4xf32>]>(%[[T]]) : (tuple<tensor<4xf32, #cpu0>>) -> tensor<i32, #cpu0>
func.func @calls(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<i32, #relay.device<cpu:0>> {
  %0 = relay.invoke @wrap<[tensor<4xf32>]>(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<i32, #relay.device<cpu:0>>
  func.return %0 : tensor<i32, #relay.device<cpu:0>>
}
func.func @wrap(%a: !relay.type_var<A, #relay.device<cpu:0>>) -> tensor<i32, #relay.device<cpu:0>> attributes {relay.type_params = ["A"], relay.inline} {
  %t = relay.tuple %a : (!relay.type_var<A, #relay.device<cpu:0>>) -> tuple<!relay.type_var<A, #relay.device<cpu:0>>>
  %0 = relay.invoke @count<[!relay.type_var<A>]>(%t) : (tuple<!relay.type_var<A, #relay.device<cpu:0>>>) -> tensor<i32, #relay.device<cpu:0>>
  func.return %0 : tensor<i32, #relay.device<cpu:0>>
}
func.func @count(%t: tuple<!relay.type_var<A, #relay.device<cpu:0>>>) -> tensor<i32, #relay.device<cpu:0>> attributes {relay.type_params = ["A"]} {
  %0 = relay.constant dense<0> : tensor<i32> on #relay.device<cpu:0>
  func.return %0 : tensor<i32, #relay.device<cpu:0>>
}
