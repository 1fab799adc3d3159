// RUN: xrelay-opt -p 'plan-devices{default=cuda:0 targets="cpu=llvm","cuda=cuda"}' %s | filecheck %s

// The option `targets` gives each device the target of its type.
//
// CHECK-LABEL: func.func @target_option
// CHECK-SAME:  (%a: tensor<4xf32, #cpu0_llvm>, %b: tensor<4xf32, #cuda0_cuda>) -> tensor<4xf32, #cuda0_cuda>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> tensor<4xf32, #cpu0_llvm>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : tensor<4xf32, #cpu0_llvm> to tensor<4xf32, #cuda0_cuda>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> tensor<4xf32, #cuda0_cuda>
// CHECK-NEXT:    func.return %[[C]]
func.func @target_option(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
