// RUN: xrelay-opt -p 'plan-devices{default=cuda:0 targets="cpu=llvm"}' %s | filecheck %s

// A device that names a target keeps it.
//
// CHECK-LABEL: func.func @target_is_kept
// CHECK-SAME:  (%a: tensor<4xf32, #cpu0_c>, %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> tensor<4xf32, #cpu0_c>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : tensor<4xf32, #cpu0_c> to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @target_is_kept(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0, target = "c"> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
