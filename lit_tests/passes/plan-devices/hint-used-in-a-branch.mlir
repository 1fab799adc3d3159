// RUN: xrelay-opt -p plan-devices %s | filecheck %s

// Each use of a hint has its own copy, in the branch that needs it.
//
// CHECK-LABEL: func.func @hint_used_in_a_branch
// CHECK:         %[[A:.*]] = relay.exp
// CHECK-NEXT:    %[[H:.*]] = relay.device_copy %[[A]]
// CHECK-NEXT:    %[[B:.*]] = relay.negative %[[H]]
// CHECK-NEXT:    %{{.*}} = relay.if
// CHECK-NEXT:      %[[I:.*]] = relay.device_copy %[[A]]
// CHECK-NEXT:      %{{.*}} = relay.add %[[B]], %[[I]]
func.func @hint_used_in_a_branch(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %h = relay.on_device %a, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.negative %h : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s = relay.add %b, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %b : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
