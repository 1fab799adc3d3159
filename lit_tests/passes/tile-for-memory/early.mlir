// RUN: xrelay-opt -p tile-for-memory %s | filecheck %s

// Early steps run for both halves of a row, before the other steps do for the first half. So one row
// of %b is live while the second row of %a is computed, not two.
//
// CHECK-LABEL: @early
// CHECK:         relay.loop
// CHECK:         %[[A0:.*]] = relay.tanh
// CHECK:         %[[A1:.*]] = relay.tanh
// CHECK:         %[[B0:.*]] = relay.nn.relu
// CHECK:         %[[B1:.*]] = relay.nn.relu
// CHECK:         relay.nn.max_pool2d
// CHECK-NOT:     relay.tanh
// CHECK:         relay.end_loop
func.func @early(%x: tensor<1x32x4x1xf32>) -> tensor<1x16x2x1xf32> {
  %a = relay.tanh %x {relay.stripes = {chain = 0, step = 0, carried, early}} : (tensor<1x32x4x1xf32>) -> tensor<1x32x4x1xf32>
  %b = relay.nn.relu %a {relay.stripes = {chain = 0, step = 1, carried}} : (tensor<1x32x4x1xf32>) -> tensor<1x32x4x1xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, relay.stripes = {chain = 0, step = 2, axis = 1, height = "1/2"}}
    : (tensor<1x32x4x1xf32>) -> tensor<1x16x2x1xf32>
  func.return %y : tensor<1x16x2x1xf32>
}
