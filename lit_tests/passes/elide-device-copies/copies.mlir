// RUN: xrelay-opt --split-input-file -p elide-device-copies %s | filecheck %s

// A copy from a device to itself is removed.
//
// CHECK-LABEL: func.func @same_device
// CHECK-NEXT:    func.return %x
func.func @same_device(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %c = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cpu:0>>
  func.return %c : tensor<4xf32, #relay.device<cpu:0>>
}

// -----

// A copy to another device and back stays.
//
// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %x
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]]
// CHECK-NEXT:    func.return %[[B]]
func.func @there_and_back(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %a = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  %b = relay.device_copy %a : tensor<4xf32, #relay.device<cuda:0>> to tensor<4xf32, #relay.device<cpu:0>>
  func.return %b : tensor<4xf32, #relay.device<cpu:0>>
}
