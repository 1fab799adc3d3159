// RUN: xrelay-opt --split-input-file -p plan-devices %s | filecheck %s

// Operands and results of an operator that is not known are on one device, all of them together.
//
// CHECK-LABEL: @together
// CHECK:         %[[X:.*]] = relay.device_copy %x : tensor<4xf32, #cuda0> to tensor<4xf32, #cpu0>
// CHECK-NEXT:    %a, %b = relay.call_opaque "nn.fancy"((%[[X]], %y)) : {{.*}} -> (tensor<4xf32, #cpu0>, tensor<2xi8, #cpu0>)
// CHECK-NEXT:    func.return %b
func.func @together(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}, %y: tensor<4xf32>) -> (tensor<2xi8> {relay.device = #relay.device<cpu:0>}) {
  %free = relay.on_device %x, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %a, %b = relay.call_opaque "nn.fancy"((%free, %y)) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi8>)
  func.return %b : tensor<2xi8>
}
