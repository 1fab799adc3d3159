// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// The uses of a constant by one call are on devices of their own, too.
//
// CHECK-LABEL: func.func @callee
// CHECK-SAME:  (%a: tensor<f32, #cpu0>, %b: tensor<f32, #cuda0>) -> tensor<f32, #cuda0>
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %a : tensor<f32, #cpu0> to tensor<f32, #cuda0>
// CHECK-NEXT:    %[[B:.*]] = relay.subtract %[[A]], %b : {{.*}} -> tensor<f32, #cuda0>
// CHECK-NEXT:    func.return %[[B]]
// CHECK-LABEL: func.func @constant_each_argument
// CHECK-SAME:  (%z: tensor<f32, #cuda0>) -> tensor<f32, #cuda0>
// CHECK-NEXT:    %c = relay.constant dense<2.000000e+00> : tensor<f32> on #cpu0
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<2.000000e+00> : tensor<f32> on #cuda0
// CHECK-NEXT:    %[[B:.*]] = func.call @callee(%c, %[[A]]) : {{.*}} -> tensor<f32, #cuda0>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %z : {{.*}} -> tensor<f32, #cuda0>
// CHECK-NEXT:    func.return %[[C]]
func.func @callee(%a: tensor<f32> {relay.device = #relay.device<cpu:0>}, %b: tensor<f32> {relay.device = #relay.device<cuda:0>}) -> (tensor<f32> {relay.device = #relay.device<cuda:0>}) {
  %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<f32>) -> tensor<f32>
  %subtract = relay.subtract %hint, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %subtract : tensor<f32>
}
func.func @constant_each_argument(%z: tensor<f32>) -> tensor<f32> {
  %c = relay.constant dense<2.000000e+00> : tensor<f32>
  %call = func.call @callee(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %add = relay.add %call, %z : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %add : tensor<f32>
}

// -----

// A constant has a device for each use, and is there once for each device.
//
// CHECK-LABEL: func.func @constant_each_use
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %c = relay.constant dense<1.000000e+00> : tensor<f32> on #cpu0
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<1.000000e+00> : tensor<f32> on #cuda0
// CHECK-NEXT:    %[[B:.*]] = relay.add %x, %c : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %y, %[[A]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.multiply %[[C]], %[[D]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[E]]
func.func @constant_each_use(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<1.000000e+00> : tensor<f32>
  %add = relay.add %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %hint = relay.on_device %add, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add_1 = relay.add %y, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %multiply = relay.multiply %hint, %add_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %multiply : tensor<4xf32>
}

// -----

// A hint on a constant copies it like any other value.
//
// CHECK-LABEL: func.func @constant_hinted
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<1.000000e+00> : tensor<f32> on #cpu0
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : tensor<f32, #cpu0> to tensor<f32, #cuda0>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %x : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @constant_hinted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<1.000000e+00> : tensor<f32>
  %hint = relay.on_device %c, #relay.device<cpu:0> : (tensor<f32>) -> tensor<f32>
  %add = relay.add %hint, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
