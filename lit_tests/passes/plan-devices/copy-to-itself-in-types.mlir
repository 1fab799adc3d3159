// RUN: xrelay-opt --split-input-file -p plan-devices %s | filecheck %s

// A copy in the IR goes when its two types turn out to be on one device.
//
// CHECK-LABEL: @copy_to_itself
// CHECK-NEXT:    %[[Y:.*]] = relay.exp %a
// CHECK-NEXT:    func.return %[[Y]] : tensor<4xf32, #cuda0>
func.func @copy_to_itself(%a: tensor<4xf32>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %y = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32, #relay.device<cuda>>
  %c = relay.device_copy %y : tensor<4xf32, #relay.device<cuda>> to tensor<4xf32, #relay.device<cuda:0>>
  func.return %c : tensor<4xf32, #relay.device<cuda:0>>
}
