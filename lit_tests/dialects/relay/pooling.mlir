// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Pooling and upsampling.

// CHECK-LABEL: @max_pool2d
// CHECK:       relay.nn.max_pool2d %a0 {pool_size = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
// CHECK:       relay.nn.max_pool2d %a1 {pool_size = array<i64: 2, 3>, strides = array<i64: 2, 2>} : (tensor<1x3x8x7xf32>) -> tensor<1x3x4x3xf32>
// CHECK:       relay.nn.max_pool2d %a2 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x7x7xf32>) -> tensor<1x3x4x4xf32>
// CHECK:       relay.nn.max_pool2d %a0 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
// CHECK:       relay.nn.max_pool2d %a3 {pool_size = array<i64: 2, 2>, dilation = array<i64: 2, 3>} : (tensor<1x2x7x7xf64>) -> tensor<1x2x5x4xf64>
// CHECK:       relay.nn.max_pool2d %a4 {pool_size = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x8x6x3xf32>) -> tensor<1x7x5x3xf32>
func.func @max_pool2d(%a0: tensor<1x3x8x8xf32>, %a1: tensor<1x3x8x7xf32>, %a2: tensor<1x3x7x7xf32>, %a3: tensor<1x2x7x7xf64>, %a4: tensor<1x8x6x3xf32>) {
  %0 = relay.nn.max_pool2d %a0 {pool_size = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  %1 = relay.nn.max_pool2d %a1 {pool_size = array<i64: 2, 3>, strides = array<i64: 2, 2>} : (tensor<1x3x8x7xf32>) -> tensor<1x3x4x3xf32>
  %2 = relay.nn.max_pool2d %a2 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x7x7xf32>) -> tensor<1x3x4x4xf32>
  %3 = relay.nn.max_pool2d %a0 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %4 = relay.nn.max_pool2d %a3 {pool_size = array<i64: 2, 2>, dilation = array<i64: 2, 3>} : (tensor<1x2x7x7xf64>) -> tensor<1x2x5x4xf64>
  %5 = relay.nn.max_pool2d %a4 {pool_size = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x8x6x3xf32>) -> tensor<1x7x5x3xf32>
  func.return
}

// CHECK-LABEL: @avg_pool2d
// CHECK:       relay.nn.avg_pool2d %a0 {pool_size = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
// CHECK:       relay.nn.avg_pool2d %a1 {pool_size = array<i64: 2, 3>, strides = array<i64: 2, 2>} : (tensor<1x3x8x7xf32>) -> tensor<1x3x4x3xf32>
// CHECK:       relay.nn.avg_pool2d %a2 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x7x7xf32>) -> tensor<1x3x4x4xf32>
// CHECK:       relay.nn.avg_pool2d %a0 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
// CHECK:       relay.nn.avg_pool2d %a3 {pool_size = array<i64: 2, 2>, dilation = array<i64: 2, 3>} : (tensor<1x2x7x7xf64>) -> tensor<1x2x5x4xf64>
// CHECK:       relay.nn.avg_pool2d %a4 {pool_size = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x8x6x3xf32>) -> tensor<1x7x5x3xf32>
// CHECK:       relay.nn.avg_pool2d %a2 {pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>, count_include_pad = true} : (tensor<1x3x7x7xf32>) -> tensor<1x3x7x7xf32>
func.func @avg_pool2d(%a0: tensor<1x3x8x8xf32>, %a1: tensor<1x3x8x7xf32>, %a2: tensor<1x3x7x7xf32>, %a3: tensor<1x2x7x7xf64>, %a4: tensor<1x8x6x3xf32>) {
  %0 = relay.nn.avg_pool2d %a0 {pool_size = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  %1 = relay.nn.avg_pool2d %a1 {pool_size = array<i64: 2, 3>, strides = array<i64: 2, 2>} : (tensor<1x3x8x7xf32>) -> tensor<1x3x4x3xf32>
  %2 = relay.nn.avg_pool2d %a2 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x7x7xf32>) -> tensor<1x3x4x4xf32>
  %3 = relay.nn.avg_pool2d %a0 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %4 = relay.nn.avg_pool2d %a3 {pool_size = array<i64: 2, 2>, dilation = array<i64: 2, 3>} : (tensor<1x2x7x7xf64>) -> tensor<1x2x5x4xf64>
  %5 = relay.nn.avg_pool2d %a4 {pool_size = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x8x6x3xf32>) -> tensor<1x7x5x3xf32>
  %6 = relay.nn.avg_pool2d %a2 {pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>, count_include_pad = true} : (tensor<1x3x7x7xf32>) -> tensor<1x3x7x7xf32>
  func.return
}

// CHECK-LABEL: @global_avg_pool2d
// CHECK:       relay.nn.global_avg_pool2d %a0 : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
// CHECK:       relay.nn.global_avg_pool2d %a1 {layout = "NHWC"} : (tensor<2x4x5x3xf32>) -> tensor<2x1x1x3xf32>
func.func @global_avg_pool2d(%a0: tensor<2x3x4x5xf32>, %a1: tensor<2x4x5x3xf32>) {
  %0 = relay.nn.global_avg_pool2d %a0 : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
  %1 = relay.nn.global_avg_pool2d %a1 {layout = "NHWC"} : (tensor<2x4x5x3xf32>) -> tensor<2x1x1x3xf32>
  func.return
}

// CHECK-LABEL: @global_max_pool2d
// CHECK:       relay.nn.global_max_pool2d %a0 : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
// CHECK:       relay.nn.global_max_pool2d %a1 {layout = "NHWC"} : (tensor<2x4x5x3xf32>) -> tensor<2x1x1x3xf32>
func.func @global_max_pool2d(%a0: tensor<2x3x4x5xf32>, %a1: tensor<2x4x5x3xf32>) {
  %0 = relay.nn.global_max_pool2d %a0 : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
  %1 = relay.nn.global_max_pool2d %a1 {layout = "NHWC"} : (tensor<2x4x5x3xf32>) -> tensor<2x1x1x3xf32>
  func.return
}

// CHECK-LABEL: @upsampling
// CHECK:       relay.nn.upsampling %a0 : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
// CHECK:       relay.nn.upsampling %a0 {scale_h = 2.000000e+00 : f64, scale_w = 3.000000e+00 : f64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x6x12xf32>
// CHECK:       relay.nn.upsampling %a1 {scale_h = 2.000000e+00 : f64, scale_w = 2.000000e+00 : f64, layout = "NHWC"} : (tensor<1x3x4x2xf32>) -> tensor<1x6x8x2xf32>
func.func @upsampling(%a0: tensor<1x2x3x4xf32>, %a1: tensor<1x3x4x2xf32>) {
  %0 = relay.nn.upsampling %a0 : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %1 = relay.nn.upsampling %a0 {scale_h = 2.000000e+00 : f64, scale_w = 3.000000e+00 : f64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x6x12xf32>
  %2 = relay.nn.upsampling %a1 {scale_h = 2.000000e+00 : f64, scale_w = 2.000000e+00 : f64, layout = "NHWC"} : (tensor<1x3x4x2xf32>) -> tensor<1x6x8x2xf32>
  func.return
}

// CHECK-LABEL: @nn_max_pool1d(
// CHECK:       relay.nn.max_pool1d %a0 {pool_size = array<i64: 2>} : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
func.func @nn_max_pool1d(%a0: tensor<1x3x8xf32>) {
  %0 = relay.nn.max_pool1d %a0 {pool_size = array<i64: 2>} : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
  func.return
}

// CHECK-LABEL: @nn_avg_pool1d(
// CHECK:       relay.nn.avg_pool1d %a0 {pool_size = array<i64: 2>} : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
func.func @nn_avg_pool1d(%a0: tensor<1x3x8xf32>) {
  %0 = relay.nn.avg_pool1d %a0 {pool_size = array<i64: 2>} : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
  func.return
}

// CHECK-LABEL: @nn_max_pool3d(
// CHECK:       relay.nn.max_pool3d %a0 {pool_size = array<i64: 2, 3, 2>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x3x3x5xf32>
func.func @nn_max_pool3d(%a0: tensor<1x2x4x5x6xf32>) {
  %0 = relay.nn.max_pool3d %a0 {pool_size = array<i64: 2, 3, 2>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x3x3x5xf32>
  func.return
}

// CHECK-LABEL: @nn_avg_pool3d(
// CHECK:       relay.nn.avg_pool3d %a0 {pool_size = array<i64: 2, 3, 2>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x3x3x5xf32>
func.func @nn_avg_pool3d(%a0: tensor<1x2x4x5x6xf32>) {
  %0 = relay.nn.avg_pool3d %a0 {pool_size = array<i64: 2, 3, 2>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x3x3x5xf32>
  func.return
}

// CHECK-LABEL: @nn_adaptive_avg_pool1d(
// CHECK:       relay.nn.adaptive_avg_pool1d %a0 {output_size = array<i64: 3>} : (tensor<1x3x8xf32>) -> tensor<1x3x3xf32>
func.func @nn_adaptive_avg_pool1d(%a0: tensor<1x3x8xf32>) {
  %0 = relay.nn.adaptive_avg_pool1d %a0 {output_size = array<i64: 3>} : (tensor<1x3x8xf32>) -> tensor<1x3x3xf32>
  func.return
}

// CHECK-LABEL: @nn_adaptive_max_pool1d(
// CHECK:       relay.nn.adaptive_max_pool1d %a0 {output_size = array<i64: 3>} : (tensor<1x3x8xf32>) -> tensor<1x3x3xf32>
func.func @nn_adaptive_max_pool1d(%a0: tensor<1x3x8xf32>) {
  %0 = relay.nn.adaptive_max_pool1d %a0 {output_size = array<i64: 3>} : (tensor<1x3x8xf32>) -> tensor<1x3x3xf32>
  func.return
}

// CHECK-LABEL: @nn_adaptive_avg_pool2d(
// CHECK:       relay.nn.adaptive_avg_pool2d %a0 {output_size = array<i64: 4, 1>} : (tensor<1x3x8x7xf32>) -> tensor<1x3x4x1xf32>
func.func @nn_adaptive_avg_pool2d(%a0: tensor<1x3x8x7xf32>) {
  %0 = relay.nn.adaptive_avg_pool2d %a0 {output_size = array<i64: 4, 1>} : (tensor<1x3x8x7xf32>) -> tensor<1x3x4x1xf32>
  func.return
}

// CHECK-LABEL: @nn_adaptive_max_pool2d(
// CHECK:       relay.nn.adaptive_max_pool2d %a0 {output_size = array<i64: 4, 1>} : (tensor<1x3x8x7xf32>) -> tensor<1x3x4x1xf32>
func.func @nn_adaptive_max_pool2d(%a0: tensor<1x3x8x7xf32>) {
  %0 = relay.nn.adaptive_max_pool2d %a0 {output_size = array<i64: 4, 1>} : (tensor<1x3x8x7xf32>) -> tensor<1x3x4x1xf32>
  func.return
}

// CHECK-LABEL: @nn_adaptive_avg_pool3d(
// CHECK:       relay.nn.adaptive_avg_pool3d %a0 {output_size = array<i64: 2, 2, 3>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x2x2x3xf32>
func.func @nn_adaptive_avg_pool3d(%a0: tensor<1x2x4x5x6xf32>) {
  %0 = relay.nn.adaptive_avg_pool3d %a0 {output_size = array<i64: 2, 2, 3>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x2x2x3xf32>
  func.return
}

// CHECK-LABEL: @nn_adaptive_max_pool3d(
// CHECK:       relay.nn.adaptive_max_pool3d %a0 {output_size = array<i64: 2, 2, 3>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x2x2x3xf32>
func.func @nn_adaptive_max_pool3d(%a0: tensor<1x2x4x5x6xf32>) {
  %0 = relay.nn.adaptive_max_pool3d %a0 {output_size = array<i64: 2, 2, 3>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x2x2x3xf32>
  func.return
}

// CHECK-LABEL: @nn_max_pool2d_grad(
// CHECK:       relay.nn.max_pool2d_grad %a0, %a1 {pool_size = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>, tensor<1x3x5x6xf32>) -> tensor<1x3x5x6xf32>
func.func @nn_max_pool2d_grad(%a0: tensor<1x3x4x5xf32>, %a1: tensor<1x3x5x6xf32>) {
  %0 = relay.nn.max_pool2d_grad %a0, %a1 {pool_size = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>, tensor<1x3x5x6xf32>) -> tensor<1x3x5x6xf32>
  func.return
}

// CHECK-LABEL: @nn_avg_pool2d_grad(
// CHECK:       relay.nn.avg_pool2d_grad %a0, %a1 {pool_size = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>, tensor<1x3x5x6xf32>) -> tensor<1x3x5x6xf32>
func.func @nn_avg_pool2d_grad(%a0: tensor<1x3x4x5xf32>, %a1: tensor<1x3x5x6xf32>) {
  %0 = relay.nn.avg_pool2d_grad %a0, %a1 {pool_size = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>, tensor<1x3x5x6xf32>) -> tensor<1x3x5x6xf32>
  func.return
}
