// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// The default is for each function: what one says does not reach another that it does not call.
//
// CHECK-LABEL: func.func @one
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[A]]
// CHECK-LABEL: func.func @default_each_function
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[A]]
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint : tensor<4xf32>
}
func.func @default_each_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %exp : tensor<4xf32>
}

// -----

// What nothing is said about inside of a closure is where the closure's result is.
//
// CHECK-LABEL: func.func @default_in_closure
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]], %unused: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.constant dense<2.000000e+00> : tensor<f32> on #cpu0
// CHECK-NEXT:      %u = relay.exp %[[A]] : {{.*}} -> tensor<f32, #cpu0>
// CHECK-NEXT:      %[[B:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %[[C:.*]] = relay.call %f(%x, %y) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[C]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.device_copy %y : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[F:.*]] = relay.add %[[D]], %[[E]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[F]]
func.func @default_in_closure(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
    %c = relay.constant dense<2.000000e+00> : tensor<f32>
    %u = relay.exp %c : (tensor<f32>) -> tensor<f32>
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %call = relay.call %f(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %y, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A parameter that a hint decides says nothing about the result: that is on the default device, and the others with it.
//
// CHECK-LABEL: func.func @default_result_before_parameters
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]], %unused: [[GPU]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %x : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @default_result_before_parameters(%x: tensor<4xf32>, %y: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  %hint = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A result that a hint decides comes before the default: parameters follow it, not the default.
//
// CHECK-LABEL: func.func @default_result_first
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]], %unused: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %x, %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[A]]
func.func @default_result_first(%x: tensor<4xf32>, %y: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %add, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint : tensor<4xf32>
}

// -----

// A closure that nobody calls is on the device of the function around it.
//
// CHECK-LABEL: func.func @default_unused_closure
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %[[B:.*]] = relay.tanh %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @default_unused_closure(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %tanh = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %tanh, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint : tensor<4xf32>
}

// -----

// Without a word about devices everything is on the default one.
//
// CHECK-LABEL: func.func @plain
// CHECK-SAME:  (%a: [[GPU:tensor<5x7xf32, #cuda0>]], %b: [[GPU]], %c: [[GPU]], %d: [[GPU]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %c, %d : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.subtract %[[A]], %[[B]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @plain(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %add = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %add_1 = relay.add %c, %d : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %subtract = relay.subtract %add, %add_1 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %subtract : tensor<5x7xf32>
}
