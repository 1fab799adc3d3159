// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// The condition of an `if` is where the result is, and is copied there from elsewhere.
//
// CHECK-LABEL: func.func @if_condition
// CHECK-SAME:  (%n: tensor<i32, #cpu0>, %x: [[GPU:tensor<4xf32, #cuda0>]], %y: [[GPU]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<0> : tensor<i32> on #cpu0
// CHECK-NEXT:    %[[B:.*]] = relay.equal %n, %[[A]] : {{.*}} -> tensor<i1, #cpu0>
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : tensor<i1, #cpu0> to tensor<i1, #cuda0>
// CHECK-NEXT:    %[[D:.*]] = relay.if %[[C]] : tensor<i1, #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %y
// CHECK:         func.return %[[D]]
func.func @if_condition(%n: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<0> : tensor<i32>
  %equal = relay.equal %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %hint = relay.on_device %equal, #relay.device<cpu:0> : (tensor<i1>) -> tensor<i1>
  %if = relay.if %hint : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// What nothing is said about inside of a branch is where the result of the `if` is.
//
// CHECK-LABEL: func.func @if_default_inside
// CHECK-SAME:  (%c: tensor<i1, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.if %c : tensor<i1, #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      %[[B:.*]] = relay.constant dense<2.000000e+00> : tensor<f32> on #cpu0
// CHECK-NEXT:      %a = relay.exp %[[B]] : {{.*}} -> tensor<f32, #cpu0>
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x
// CHECK:         %[[C:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %[[C]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @if_default_inside(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %if = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %c_1 = relay.constant dense<2.000000e+00> : tensor<f32>
    %a = relay.exp %c_1 : (tensor<f32>) -> tensor<f32>
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  %hint = relay.on_device %if, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// What is computed inside of a branch may be elsewhere than what the branch gives.
//
// CHECK-LABEL: func.func @if_inside_is_free
// CHECK-SAME:  (%c: tensor<i1, #cuda0>, %x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.if %c : tensor<i1, #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:      %[[B:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:      %[[C:.*]] = relay.device_copy %[[B]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[D:.*]] = relay.add %[[C]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[D]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %y
// CHECK:         func.return %[[A]]
func.func @if_inside_is_free(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %if = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// Branches in branches are each on a device of their own.
//
// CHECK-LABEL: func.func @if_nested
// CHECK-SAME:  (%c: tensor<i1, #cuda0>, %d: tensor<i1, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.if %c : tensor<i1, #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:      %[[B:.*]] = relay.if %d : tensor<i1, #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:        %[[C:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[C]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        relay.yield %x
// CHECK:           %[[D:.*]] = relay.device_copy %[[B]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[E:.*]] = relay.tanh %[[D]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[E]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %y
// CHECK:         func.return %[[A]]
func.func @if_nested(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %if = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %if_1 = relay.if %d : tensor<i1> -> (tensor<4xf32>) {
      %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %exp : tensor<4xf32>
    } else {
      relay.yield %x : tensor<4xf32>
    }
    %hint = relay.on_device %if_1, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %tanh = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %tanh : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// Where the result of an `if` is there are its condition and what both branches give.
//
// CHECK-LABEL: func.func @if_result
// CHECK-SAME:  (%c: tensor<i1, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]], %z: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.if %c : tensor<i1, #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      %[[B:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[C:.*]] = relay.negative %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[C]]
// CHECK:         %[[D:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.add %[[D]], %z : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[E]]
func.func @if_result(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %if = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  } else {
    %negative = relay.negative %y : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %negative : tensor<4xf32>
  }
  %hint = relay.on_device %if, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
