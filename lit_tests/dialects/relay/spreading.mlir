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
