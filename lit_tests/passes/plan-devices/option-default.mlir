// RUN: xrelay-opt -p 'plan-devices{default=cpu:2}' %s | filecheck %s

// The option `default` says where that is that nothing is said about.
//
// CHECK-LABEL: func.func @default_option
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]], %y: tensor<4xf32, #cpu2>) -> tensor<4xf32, #cpu2>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[GPU]] to tensor<4xf32, #cpu2>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> tensor<4xf32, #cpu2>
// CHECK-NEXT:    func.return %[[C]]
func.func @default_option(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
