// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators that move elements between channels and space, or apart.

// CHECK-LABEL: @depth_to_space(
// CHECK:       relay.nn.depth_to_space %a0 {block_size = 2 : i64, mode = "CDR"} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
func.func @depth_to_space(%a0: tensor<1x8x2x3xf32>) {
  %0 = relay.nn.depth_to_space %a0 {block_size = 2 : i64, mode = "CDR"} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  func.return
}

// CHECK-LABEL: @space_to_depth(
// CHECK:       relay.nn.space_to_depth %a0 {block_size = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
func.func @space_to_depth(%a0: tensor<1x2x4x6xf32>) {
  %0 = relay.nn.space_to_depth %a0 {block_size = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
  func.return
}

// CHECK-LABEL: @dilate(
// CHECK:       relay.nn.dilate %a0 {strides = array<i64: 1, 2>, dilation_value = 1.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x5xf32>
func.func @dilate(%a0: tensor<2x3xf32>) {
  %0 = relay.nn.dilate %a0 {strides = array<i64: 1, 2>, dilation_value = 1.0} : (tensor<2x3xf32>) -> tensor<2x5xf32>
  func.return
}

// CHECK-LABEL: @nn_space_to_batch_nd(
// CHECK:       relay.nn.space_to_batch_nd %a0 {block_shape = array<i64: 2, 3>, paddings = array<i64: 1, 0, 0, 1>} : (tensor<2x3x5x2xf32>) -> tensor<12x2x2x2xf32>
func.func @nn_space_to_batch_nd(%a0: tensor<2x3x5x2xf32>) {
  %0 = relay.nn.space_to_batch_nd %a0 {block_shape = array<i64: 2, 3>, paddings = array<i64: 1, 0, 0, 1>} : (tensor<2x3x5x2xf32>) -> tensor<12x2x2x2xf32>
  func.return
}

// CHECK-LABEL: @nn_batch_to_space_nd(
// CHECK:       relay.nn.batch_to_space_nd %a0 {block_shape = array<i64: 2, 3>, crops = array<i64: 1, 0, 0, 1>} : (tensor<12x2x2x2xf32>) -> tensor<2x3x5x2xf32>
func.func @nn_batch_to_space_nd(%a0: tensor<12x2x2x2xf32>) {
  %0 = relay.nn.batch_to_space_nd %a0 {block_shape = array<i64: 2, 3>, crops = array<i64: 1, 0, 0, 1>} : (tensor<12x2x2x2xf32>) -> tensor<2x3x5x2xf32>
  func.return
}

// CHECK-LABEL: @nn_mirror_pad(
// CHECK:       relay.nn.mirror_pad %a0 {pad_width = array<i64: 2, 1, 0, 3>} : (tensor<2x3xf32>) -> tensor<5x6xf32>
func.func @nn_mirror_pad(%a0: tensor<2x3xf32>) {
  %0 = relay.nn.mirror_pad %a0 {pad_width = array<i64: 2, 1, 0, 3>} : (tensor<2x3xf32>) -> tensor<5x6xf32>
  func.return
}
