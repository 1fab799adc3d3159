// RUN: xrelay-opt -p 'plan-devices{default=cuda:1}' %s | filecheck %s

// A device without a number is the default one when that is of its type.
//
// CHECK-LABEL: func.func @device_type_of_the_default
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: tensor<4xf32, #cuda1>) -> tensor<4xf32, #cuda1>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to tensor<4xf32, #cuda1>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> tensor<4xf32, #cuda1>
// CHECK-NEXT:    func.return %[[C]]
func.func @device_type_of_the_default(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %y, #relay.device<cuda> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
