// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// The same elements in another shape.

// CHECK-LABEL: @reshape
// CHECK:       relay.reshape %a0 {newshape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK:       relay.reshape %a1 {newshape = array<i64: 3, 0>, allowzero = true} : (tensor<0x3xf32>) -> tensor<3x0xf32>
func.func @reshape(%a0: tensor<2x3x4xf32>, %a1: tensor<0x3xf32>) {
  %0 = relay.reshape %a0 {newshape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = relay.reshape %a1 {newshape = array<i64: 3, 0>, allowzero = true} : (tensor<0x3xf32>) -> tensor<3x0xf32>
  func.return
}

// CHECK-LABEL: @batch_flatten
// CHECK:       relay.nn.batch_flatten %a0 : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
func.func @batch_flatten(%a0: tensor<2x3x4xf32>) {
  %0 = relay.nn.batch_flatten %a0 : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  func.return
}

// CHECK-LABEL: @expand_dims
// CHECK:       relay.expand_dims %a0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
// CHECK:       relay.expand_dims %a0 {axis = -1 : i64, num_newaxis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3x1x1xf32>
func.func @expand_dims(%a0: tensor<2x3xf32>) {
  %0 = relay.expand_dims %a0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %1 = relay.expand_dims %a0 {axis = -1 : i64, num_newaxis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3x1x1xf32>
  func.return
}

// CHECK-LABEL: @squeeze
// CHECK:       relay.squeeze %a0 : (tensor<1x2x1xf32>) -> tensor<2xf32>
// CHECK:       relay.squeeze %a0 {axis = array<i64: 0>} : (tensor<1x2x1xf32>) -> tensor<2x1xf32>
func.func @squeeze(%a0: tensor<1x2x1xf32>) {
  %0 = relay.squeeze %a0 : (tensor<1x2x1xf32>) -> tensor<2xf32>
  %1 = relay.squeeze %a0 {axis = array<i64: 0>} : (tensor<1x2x1xf32>) -> tensor<2x1xf32>
  func.return
}

// CHECK-LABEL: @reshape_like(
// CHECK:       relay.reshape_like %a0, %a1 : (tensor<6x4xf32>, tensor<2x12xi1>) -> tensor<2x12xf32>
func.func @reshape_like(%a0: tensor<6x4xf32>, %a1: tensor<2x12xi1>) {
  %0 = relay.reshape_like %a0, %a1 : (tensor<6x4xf32>, tensor<2x12xi1>) -> tensor<2x12xf32>
  func.return
}
