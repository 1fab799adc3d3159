// RUN: xrelay-opt -p 'plan-devices{default=cuda:0 host=cpu:1}' %s | filecheck %s

// The option `host` says which device the host is.
//
// CHECK-LABEL: func.func @host_option
// CHECK-SAME:  (%x: tensor<?xf32, #cuda0>, %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %s = vm.shape_of %x : {{.*}} -> tensor<1xi64, #cpu1>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[A]]
func.func @host_option(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %exp = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %exp : tensor<4xf32>
}
