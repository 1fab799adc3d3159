// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Dims that are not known make no difference.
//
// CHECK-LABEL: func.func @dynamic_shapes
// CHECK-SAME:  (%x: tensor<?x4xf32, #cpu0>, %y: tensor<4xf32, #cuda0>) -> tensor<?x4xf32, #cuda0>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> tensor<?x4xf32, #cpu0>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : tensor<?x4xf32, #cpu0> to tensor<?x4xf32, #cuda0>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> tensor<?x4xf32, #cuda0>
// CHECK-NEXT:    func.return %[[C]]
func.func @dynamic_shapes(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> tensor<?x4xf32> {
  %exp = relay.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %add = relay.add %hint, %y : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  func.return %add : tensor<?x4xf32>
}

// -----

// An operator is on a device of its own at each place, where a function is on one.
//
// CHECK-LABEL: func.func @operators_are_polymorphic
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.exp %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %[[B]], %[[C]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @operators_are_polymorphic(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %exp_1 = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %exp_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

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
