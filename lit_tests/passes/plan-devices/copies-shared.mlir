// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0},share-device-copies' %s | filecheck %s

// `share-device-copies` moves no copy out of a branch.
//
// CHECK-LABEL: func.func @copy_not_shared_across_branches
// CHECK-SAME:  (%c: tensor<i1, #cuda0>, %a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.if %c : tensor<i1, #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:      %[[B:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[C]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[D:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[E:.*]] = relay.multiply %[[D]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[E]]
// CHECK:         func.return %[[A]]
func.func @copy_not_shared_across_branches(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %if = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  } else {
    %hint_1 = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %multiply = relay.multiply %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %multiply : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// `share-device-copies` lets hints on one value share the first copy.
//
// CHECK-LABEL: func.func @copy_shared
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.subtract %[[B]], %[[B]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @copy_shared(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %add, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %add, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %subtract = relay.subtract %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %subtract : tensor<4xf32>
}

// -----

// A copy before a branch serves the branch too.
//
// CHECK-LABEL: func.func @shared_with_a_branch
// CHECK:         %[[A:.*]] = relay.exp
// CHECK-NEXT:    %[[H:.*]] = relay.device_copy %[[A]]
// CHECK-NEXT:    %[[B:.*]] = relay.negative %[[H]]
// CHECK-NEXT:    %{{.*}} = relay.if
// CHECK-NEXT:      %{{.*}} = relay.add %[[B]], %[[H]]
func.func @shared_with_a_branch(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %h = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.negative %h : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s = relay.add %b, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %b : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
