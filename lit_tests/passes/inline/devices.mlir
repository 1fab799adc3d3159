// RUN: xrelay-opt --split-input-file -p inline %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p inline,plan-devices %s | filecheck %s --check-prefix=PLANNED

// What a signature requires of devices is required by hints, and plans come out the same.
//
// CHECK-LABEL: @calls(
// CHECK-NEXT:    %[[X:.*]] = relay.on_device %x, #cuda0 {constrain_result = true}
// CHECK-NEXT:    %[[E:.*]] = relay.exp %[[X]]
// CHECK-NEXT:    %[[R:.*]] = relay.on_device %[[E]], #cuda0 {constrain_result = true}
// CHECK-NEXT:    func.return %[[R]]
// PLANNED-LABEL: @calls(
// PLANNED-SAME:    %x: tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
// PLANNED-NEXT:    %[[E:.*]] = relay.exp %x
// PLANNED-NEXT:    func.return %[[E]]
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @annotated(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func @annotated(%a: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> (tensor<4xf32> {relay.device = #relay.device<cuda:0>}) attributes {relay.inline} {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
