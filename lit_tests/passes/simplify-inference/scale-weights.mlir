// RUN: xrelay-opt -p 'simplify-inference{scale-weights=true},fold-constants,fold-weights' %s | filecheck %s
// RUN: xrelay-opt -p simplify-inference,fold-constants,fold-weights %s | filecheck %s --check-prefix KEPT

// The scale of a batch norm becomes part of weights in a side file.
//
// CHECK-LABEL: func.func @main(%x
// CHECK-NOT:     = relay.multiply
// CHECK:         %[[W:.*]] = relay.param "=relay.multiply('w', constant('float32', (2, 1, 1, 1), {{.*}}))" : tensor<2x1x1x1xf32>
// CHECK-NOT:     = relay.multiply
// CHECK:         %[[C:.*]] = relay.nn.conv2d %x, %[[W]]
// CHECK-NEXT:    %[[T:.*]] = relay.constant
// CHECK-NEXT:    %y = relay.add %[[C]], %[[T]]
// CHECK-NEXT:    func.return %y
//
// KEPT:          relay.nn.conv2d %x, %w
// KEPT:          relay.multiply
// KEPT:          relay.add
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = relay.param "w" : tensor<2x1x1x1xf32>
  %g = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = relay.constant dense<1.0> : tensor<2xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y, %mean, %var = relay.nn.batch_norm %c, %g, %s, %s, %s {epsilon = 0.0} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %y : tensor<1x2x4x4xf32>
}

// What is neither a convolution nor a dense layer has no weights.
//
// CHECK-LABEL: func.func @no_layer(%x
// CHECK:         relay.nn.relu %x
// CHECK:         relay.multiply
func.func @no_layer(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %g = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = relay.constant dense<1.0> : tensor<2xf32>
  %r = relay.nn.relu %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y, %mean, %var = relay.nn.batch_norm %r, %g, %s, %s, %s : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %y : tensor<1x2x4x4xf32>
}
