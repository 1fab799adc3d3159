// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s

// Parameters for captured values are on their devices.
//
// CHECK-LABEL: @placed(
// CHECK-NEXT:    relay.closure @placed_f(%x, %y) : (tensor<4xf32, #cuda0>, tensor<4xf32, #cpu0>) -> (() -> tensor<4xf32, #cpu0>)
// CHECK:       @placed_f(%x: tensor<4xf32, #cuda0>, %y: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0> {
// CHECK-NEXT:    %[[X:.*]] = relay.device_copy %x : tensor<4xf32, #cuda0> to tensor<4xf32, #cpu0>
func.func @placed(%x: tensor<4xf32, #relay.device<cuda:0>>, %y: tensor<4xf32, #relay.device<cpu:0>>) -> (() -> tensor<4xf32, #relay.device<cpu:0>>) {
  %f = relay.fn () -> tensor<4xf32, #relay.device<cpu:0>> {
    %0 = relay.device_copy %x : tensor<4xf32, #relay.device<cuda:0>> to tensor<4xf32, #relay.device<cpu:0>>
    %1 = relay.add %0, %y : (tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %1 : tensor<4xf32, #relay.device<cpu:0>>
  }
  func.return %f : () -> tensor<4xf32, #relay.device<cpu:0>>
}

// -----

// Before planning, annotations of a closure become those of its function.
//
// CHECK-LABEL: @annotated(
// CHECK:       @annotated_f(%x: tensor<4xf32>, %a: tensor<4xf32> {relay.device = #cuda0}, %b: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #cpu0})
func.func @annotated(%x: tensor<4xf32>) -> ((tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>) {
  %f = relay.fn (%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {param_devices = [#relay.device<cuda:0>, #relay.device<?>], result_device = #relay.device<cpu:0>} {
    relay.yield %x : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}
