// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'choose-tiling{code=2.0}' %s | filecheck %s

// A chain has at most two calls a step: those of one loop, of which turns begin above the image.
//
// CHECK-LABEL: @loop
// CHECK:         loop, axis = 1 : i64, height = "1/2"
// expected-remark@+1 {{peak of live bytes from 73728 to 17408, work +0.0 %, 1 chain}}
func.func @loop(%x: tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32> {
  %a = relay.tanh %x : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32>
  func.return %y : tensor<1x16x4x32xf32>
}

// -----

// Of two stripes, if means do not count padding, so that the first and the last are other calls than
// those of a loop between them.
//
// CHECK-LABEL: @two_stripes
// CHECK:         height = "8"
// expected-remark@+1 {{peak of live bytes from 73728 to 51200, work +0.0 %, 1 chain}}
func.func @two_stripes(%x: tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32> {
  %a = relay.tanh %x : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %b = relay.nn.avg_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32>
  func.return %y : tensor<1x16x4x32xf32>
}

// -----

// A chain of an open height is not limited: it is a loop, with neither a top nor a bottom.
//
// CHECK-LABEL: @open_rows
// CHECK:         height =
// expected-remark@+1 {{peak of live bytes from 36864 to 4608, work +0.0 %, 1 chain}}
func.func @open_rows(%x: tensor<1x?x1x8xf32>) -> tensor<1x?x1x8xf32> {
  %a = relay.tanh %x : (tensor<1x?x1x8xf32>) -> tensor<1x?x1x8xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 1>, padding = array<i64: 1, 0, 1, 0>}
    : (tensor<1x?x1x8xf32>) -> tensor<1x?x1x8xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 4, 1>, strides = array<i64: 4, 1>}
    : (tensor<1x?x1x8xf32>) -> tensor<1x?x1x8xf32>
  func.return %y : tensor<1x?x1x8xf32>
}
