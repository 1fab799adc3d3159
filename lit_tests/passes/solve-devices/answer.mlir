// RUN: xrelay-opt --split-input-file -p 'solve-devices{default=cuda:0}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'solve-devices{default=cuda:0}' %s | xrelay-opt --split-input-file -p assign-devices - | filecheck %s --check-prefix=TYPES

// The device of each parameter, result and use of a constant is an attribute; types stay as they are.
//
// CHECK-LABEL: func.func @devices(%x: tensor<4xf32> {relay.device = #cpu0}) -> tensor<4xf32>
// CHECK-SAME:      relay.argument_devices = [#cpu0]
// CHECK-SAME:      relay.result_devices = [#cpu0]
// CHECK:         relay.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK:         relay.add {{.*}}relay.result_devices = [#cpu0]{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//
// TYPES-LABEL: func.func @devices(%x: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0> {
// TYPES-NEXT:    %c = relay.constant dense<1.000000e+00> : tensor<4xf32> on #cpu0
// TYPES-NEXT:    %y = relay.add %x, %c : (tensor<4xf32, #cpu0>, tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
func.func @devices(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %y = relay.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Results and regions' arguments of an op with regions carry theirs on the op.
//
// CHECK-LABEL: func.func @regions
// CHECK:         relay.if
// CHECK:           relay.tanh {{.*}}relay.result_devices = [#cuda0]
// CHECK:         } {relay.result_devices = [#cuda0]}
//
// TYPES-LABEL: func.func @regions(%c: tensor<i1, #cuda0>, %x: tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0> {
func.func @regions(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %t = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %t : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
