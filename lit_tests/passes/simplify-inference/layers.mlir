// RUN: xrelay-opt --split-input-file -p simplify-inference,fold-constants %s | filecheck %s

// The scale of a batch norm is folded into constant weights of the convolution before it, along its
// output channels.
//
// CHECK-LABEL: func.func @constant_weights(%x
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}4.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[C:.*]] = relay.nn.conv2d %x, %[[W]]
// CHECK-NEXT:    %[[T:.*]] = relay.constant
// CHECK-NEXT:    %y = relay.add %[[C]], %[[T]]
// CHECK-NEXT:    func.return %y
func.func @constant_weights(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = relay.constant dense<2.0> : tensor<2x1x1x1xf32>
  %g = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = relay.constant dense<1.0> : tensor<2xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y, %mean, %var = relay.nn.batch_norm %c, %g, %s, %s, %s {epsilon = 0.0} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// The same for a dense layer.
//
// CHECK-LABEL: func.func @dense(%x
// CHECK:         %[[W:.*]] = relay.constant dense<{{\[\[}}2.000000e+00, 2.000000e+00], [4.000000e+00, 4.000000e+00]]>
// CHECK:         relay.nn.dense %x, %[[W]]
// CHECK-NOT:     relay.multiply
// CHECK:         func.return
func.func @dense(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = relay.constant dense<2.0> : tensor<2x2xf32>
  %g = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = relay.constant dense<1.0> : tensor<2xf32>
  %c = relay.nn.dense %x, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %y, %mean, %var = relay.nn.batch_norm %c, %g, %s, %s, %s {epsilon = 0.0} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %y : tensor<3x2xf32>
}

// -----

// A layer whose result has another use keeps its weights.
//
// CHECK-LABEL: func.func @other_use(%x
// CHECK:         %[[C:.*]] = relay.nn.dense
// CHECK:         relay.multiply %[[C]]
func.func @other_use(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = relay.constant dense<2.0> : tensor<2x2xf32>
  %s = relay.constant dense<4.0> : tensor<2xf32>
  %c = relay.nn.dense %x, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %y, %mean, %var = relay.nn.batch_norm %c, %s, %s, %s, %s : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %y, %c : tensor<3x2xf32>, tensor<3x2xf32>
}
