// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Convolutions; strides, padding, dilation and layouts are printed when they are not the default.

// CHECK-LABEL: @conv2d
// CHECK:       relay.nn.conv2d %a0, %a1 : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
// CHECK:       relay.nn.conv2d %a2, %a1 {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x3x8x7xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x7xf32>
// CHECK:       relay.nn.conv2d %a3, %a4 {strides = array<i64: 2, 1>, padding = array<i64: 0, 1, 1, 0>, dilation = array<i64: 1, 2>} : (tensor<1x3x9x8xf32>, tensor<4x3x3x2xf32>) -> tensor<1x4x4x7xf32>
// CHECK:       relay.nn.conv2d %a5, %a6 {groups = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x3x3xf32>
// CHECK:       relay.nn.conv2d %a7, %a8 {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x5x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x3x3x6xf32>
// CHECK:       relay.nn.conv2d %a9, %a10 {out_dtype = i32} : (tensor<1x2x4x4xi8>, tensor<3x2x1x1xi8>) -> tensor<1x3x4x4xi32>
func.func @conv2d(%a0: tensor<1x3x8x8xf32>, %a1: tensor<4x3x3x3xf32>, %a2: tensor<2x3x8x7xf32>, %a3: tensor<1x3x9x8xf32>, %a4: tensor<4x3x3x2xf32>, %a5: tensor<1x4x5x5xf32>, %a6: tensor<6x2x3x3xf32>, %a7: tensor<1x5x5x4xf32>, %a8: tensor<3x3x4x6xf32>, %a9: tensor<1x2x4x4xi8>, %a10: tensor<3x2x1x1xi8>) {
  %0 = relay.nn.conv2d %a0, %a1 : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.nn.conv2d %a2, %a1 {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x3x8x7xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x7xf32>
  %2 = relay.nn.conv2d %a3, %a4 {strides = array<i64: 2, 1>, padding = array<i64: 0, 1, 1, 0>, dilation = array<i64: 1, 2>} : (tensor<1x3x9x8xf32>, tensor<4x3x3x2xf32>) -> tensor<1x4x4x7xf32>
  %3 = relay.nn.conv2d %a5, %a6 {groups = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x3x3xf32>
  %4 = relay.nn.conv2d %a7, %a8 {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x5x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x3x3x6xf32>
  %5 = relay.nn.conv2d %a9, %a10 {out_dtype = i32} : (tensor<1x2x4x4xi8>, tensor<3x2x1x1xi8>) -> tensor<1x3x4x4xi32>
  func.return
}

// CHECK-LABEL: @conv2d_transpose
// CHECK:       relay.nn.conv2d_transpose %a0, %a1 : (tensor<1x3x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x2x5x5xf32>
// CHECK:       relay.nn.conv2d_transpose %a2, %a3 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 0>} : (tensor<1x3x4x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x2x8x9xf32>
// CHECK:       relay.nn.conv2d_transpose %a0, %a3 {dilation = array<i64: 2, 1>} : (tensor<1x3x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x2x8x6xf32>
// CHECK:       relay.nn.conv2d_transpose %a4, %a5 {groups = 2 : i64, strides = array<i64: 2, 2>} : (tensor<1x4x3x3xf32>, tensor<4x3x2x2xf32>) -> tensor<1x6x6x6xf32>
func.func @conv2d_transpose(%a0: tensor<1x3x4x4xf32>, %a1: tensor<3x2x2x2xf32>, %a2: tensor<1x3x4x5xf32>, %a3: tensor<3x2x3x3xf32>, %a4: tensor<1x4x3x3xf32>, %a5: tensor<4x3x2x2xf32>) {
  %0 = relay.nn.conv2d_transpose %a0, %a1 : (tensor<1x3x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x2x5x5xf32>
  %1 = relay.nn.conv2d_transpose %a2, %a3 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 0>} : (tensor<1x3x4x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x2x8x9xf32>
  %2 = relay.nn.conv2d_transpose %a0, %a3 {dilation = array<i64: 2, 1>} : (tensor<1x3x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x2x8x6xf32>
  %3 = relay.nn.conv2d_transpose %a4, %a5 {groups = 2 : i64, strides = array<i64: 2, 2>} : (tensor<1x4x3x3xf32>, tensor<4x3x2x2xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// CHECK-LABEL: @conv1d(
// CHECK:       relay.nn.conv1d %a0, %a1 : (tensor<1x3x9xf32>, tensor<4x3x3xf32>) -> tensor<1x4x7xf32>
func.func @conv1d(%a0: tensor<1x3x9xf32>, %a1: tensor<4x3x3xf32>) {
  %0 = relay.nn.conv1d %a0, %a1 : (tensor<1x3x9xf32>, tensor<4x3x3xf32>) -> tensor<1x4x7xf32>
  func.return
}

// CHECK-LABEL: @nn_conv3d(
// CHECK:       relay.nn.conv3d %a0, %a1 : (tensor<1x2x3x4x5xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x2x3x4xf32>
func.func @nn_conv3d(%a0: tensor<1x2x3x4x5xf32>, %a1: tensor<3x2x2x2x2xf32>) {
  %0 = relay.nn.conv3d %a0, %a1 : (tensor<1x2x3x4x5xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x2x3x4xf32>
  func.return
}

// CHECK-LABEL: @nn_conv1d_transpose(
// CHECK:       relay.nn.conv1d_transpose %a0, %a1 : (tensor<1x3x4xf32>, tensor<3x2x2xf32>) -> tensor<1x2x5xf32>
func.func @nn_conv1d_transpose(%a0: tensor<1x3x4xf32>, %a1: tensor<3x2x2xf32>) {
  %0 = relay.nn.conv1d_transpose %a0, %a1 : (tensor<1x3x4xf32>, tensor<3x2x2xf32>) -> tensor<1x2x5xf32>
  func.return
}

// CHECK-LABEL: @nn_conv3d_transpose(
// CHECK:       relay.nn.conv3d_transpose %a0, %a1 : (tensor<1x2x2x3x2xf32>, tensor<2x3x2x2x2xf32>) -> tensor<1x3x3x4x3xf32>
func.func @nn_conv3d_transpose(%a0: tensor<1x2x2x3x2xf32>, %a1: tensor<2x3x2x2x2xf32>) {
  %0 = relay.nn.conv3d_transpose %a0, %a1 : (tensor<1x2x2x3x2xf32>, tensor<2x3x2x2x2xf32>) -> tensor<1x3x3x4x3xf32>
  func.return
}

// CHECK-LABEL: @nn_conv2d_backward_weight(
// CHECK:       relay.nn.conv2d_backward_weight %a0, %a1 {kernel_size = array<i64: 2, 2>} : (tensor<2x3x4x5xf32>, tensor<2x2x5x6xf32>) -> tensor<3x2x2x2xf32>
func.func @nn_conv2d_backward_weight(%a0: tensor<2x3x4x5xf32>, %a1: tensor<2x2x5x6xf32>) {
  %0 = relay.nn.conv2d_backward_weight %a0, %a1 {kernel_size = array<i64: 2, 2>} : (tensor<2x3x4x5xf32>, tensor<2x2x5x6xf32>) -> tensor<3x2x2x2xf32>
  func.return
}

// CHECK-LABEL: @nn_deformable_conv2d(
// CHECK:       relay.nn.deformable_conv2d %a0, %a1, %a2 : (tensor<1x2x4x5xf32>, tensor<1x8x3x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x3x4xf32>
func.func @nn_deformable_conv2d(%a0: tensor<1x2x4x5xf32>, %a1: tensor<1x8x3x4xf32>, %a2: tensor<3x2x2x2xf32>) {
  %0 = relay.nn.deformable_conv2d %a0, %a1, %a2 : (tensor<1x2x4x5xf32>, tensor<1x8x3x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x3x4xf32>
  func.return
}

// CHECK-LABEL: @image_dilation2d(
// CHECK:       relay.image.dilation2d %a0, %a1 : (tensor<1x3x5x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4x4xf32>
func.func @image_dilation2d(%a0: tensor<1x3x5x6xf32>, %a1: tensor<3x2x3xf32>) {
  %0 = relay.image.dilation2d %a0, %a1 : (tensor<1x3x5x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4x4xf32>
  func.return
}
