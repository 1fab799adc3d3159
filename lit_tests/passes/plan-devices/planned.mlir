// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// A program that is planned already stays as it is.
//
// CHECK-LABEL: func.func @planned_already
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %l = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %l : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @planned_already(%a: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %b: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> (tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  %l = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %l, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_2 = relay.on_device %hint_1, #relay.device<cuda:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_2, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// What is planned already holds, and the rest is planned around it.
//
// CHECK-LABEL: func.func @planned_in_part
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[GPU:tensor<4xf32, #cuda0>]], %c: [[CPU]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %l = relay.add %[[A]], %c : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %l : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @planned_in_part(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %l = relay.add %exp, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %l, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cuda:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
