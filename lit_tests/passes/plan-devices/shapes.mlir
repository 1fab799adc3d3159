// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0 host=cpu:0}' %s | filecheck %s

// A shape that is the result of a function makes the host the device of the function, and of its parameters.
//
// CHECK-LABEL: func.func @shape_as_result
// CHECK-SAME:  (%x: tensor<?xf32, #cpu0>) -> tensor<1xi64, #cpu0>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> tensor<?xf32, #cpu0>
// CHECK-NEXT:    %[[B:.*]] = vm.shape_of %[[A]] : {{.*}} -> tensor<1xi64, #cpu0>
// CHECK-NEXT:    func.return %[[B]]
func.func @shape_as_result(%x: tensor<?xf32>) -> tensor<1xi64> {
  %exp = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %shape_of = vm.shape_of %exp : (tensor<?xf32>) -> tensor<1xi64>
  func.return %shape_of : tensor<1xi64>
}

// -----

// Shapes are on the host, whatever the data is on.
//
// CHECK-LABEL: func.func @shape_on_host
// CHECK-SAME:  (%x: tensor<?xf32, #cuda0>, %n: tensor<1xi64, #cuda0>) -> tensor<1xi64, #cuda0>
// CHECK-NEXT:    %s = vm.shape_of %x : {{.*}} -> tensor<1xi64, #cpu0>
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %s : tensor<1xi64, #cpu0> to tensor<1xi64, #cuda0>
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %n : {{.*}} -> tensor<1xi64, #cuda0>
// CHECK-NEXT:    func.return %[[B]]
func.func @shape_on_host(%x: tensor<?xf32>, %n: tensor<1xi64>) -> (tensor<1xi64> {relay.device = #relay.device<cuda:0>}) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %hint = relay.on_device %s, #relay.device<cpu:0> : (tensor<1xi64>) -> tensor<1xi64>
  %add = relay.add %hint, %n : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  func.return %add : tensor<1xi64>
}
