// RUN: xrelay-opt --split-input-file -p simplify-inference %s | filecheck %s

// A batch norm becomes a multiplication and an addition along its axis; its other results are the
// moving mean and variance.
//
// CHECK-LABEL: func.func @batch_norm(%x
// CHECK:         %[[E:.*]] = relay.constant dense<1.000000e-03> : tensor<f32>
// CHECK-NEXT:    %[[A:.*]] = relay.add %v, %[[E]]
// CHECK-NEXT:    %[[R:.*]] = relay.rsqrt %[[A]]
// CHECK-NEXT:    %[[S:.*]] = relay.multiply %[[R]], %g
// CHECK-NEXT:    %[[M:.*]] = relay.multiply %m, %[[S]]
// CHECK-NEXT:    %[[T:.*]] = relay.subtract %b, %[[M]]
// CHECK-NEXT:    %[[SX:.*]] = relay.expand_dims %[[S]] {axis = 1 : i64, num_newaxis = 2 : i64}
// CHECK-NEXT:    %[[Y:.*]] = relay.multiply %x, %[[SX]]
// CHECK-NEXT:    %[[TX:.*]] = relay.expand_dims %[[T]] {axis = 1 : i64, num_newaxis = 2 : i64}
// CHECK-NEXT:    %y = relay.add %[[Y]], %[[TX]]
// CHECK-NEXT:    func.return %y, %m, %v
func.func @batch_norm(%x: tensor<?x3x4x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> (tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) {
  %y, %mean, %var = relay.nn.batch_norm %x, %g, %b, %m, %v {epsilon = 0.001} : (tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %y, %mean, %var : tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Without scale there is no gamma, without center no beta; along the last axis no dims are added.
//
// CHECK-LABEL: func.func @last_axis(%x
// CHECK-NEXT:    %[[E:.*]] = relay.constant dense<1.000000e-05> : tensor<f32>
// CHECK-NEXT:    %[[A:.*]] = relay.add %v, %[[E]]
// CHECK-NEXT:    %[[S:.*]] = relay.rsqrt %[[A]]
// CHECK-NEXT:    %[[M:.*]] = relay.multiply %m, %[[S]]
// CHECK-NEXT:    %[[T:.*]] = relay.negative %[[M]]
// CHECK-NEXT:    %[[Y:.*]] = relay.multiply %x, %[[S]]
// CHECK-NEXT:    %y = relay.add %[[Y]], %[[T]]
func.func @last_axis(%x: tensor<2x4x3xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x4x3xf32> {
  %y, %mean, %var = relay.nn.batch_norm %x, %g, %b, %m, %v {axis = -1, scale = false, center = false} : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %y : tensor<2x4x3xf32>
}

// -----

// The kernel of a batch norm computes f16 in f32, so it stays.
//
// CHECK-LABEL: func.func @half(
// CHECK:         relay.nn.batch_norm
func.func @half(%x: tensor<2x3xf16>, %s: tensor<3xf16>) -> tensor<2x3xf16> {
  %y, %mean, %var = relay.nn.batch_norm %x, %s, %s, %s, %s : (tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>) -> (tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>)
  func.return %y : tensor<2x3xf16>
}

// -----

// The sum has the dim that only the batch norm declares: the channels of gamma.
//
// CHECK-LABEL: func.func @open_channels(
// CHECK:         %y = relay.add {{.*}} : (tensor<?xf32>, tensor<?xf32>) -> tensor<1xf32>
func.func @open_channels(%x: tensor<?xf32>, %one: tensor<1xf32>, %m: tensor<?xf32>) -> tensor<1xf32> {
  %y, %mean, %var = relay.nn.batch_norm %x, %one, %m, %m, %one {axis = -1} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>, tensor<?xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<?xf32>, tensor<1xf32>)
  func.return %y : tensor<1xf32>
}
