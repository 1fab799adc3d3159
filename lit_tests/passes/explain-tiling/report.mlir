// RUN: xrelay-opt --split-input-file --verify-diagnostics -p explain-tiling %s | filecheck %s

// CHECK-LABEL: @chain
// CHECK-NOT:     relay.stripes
// expected-remark@+4 {{73728 bytes are live at most, 17408 in stripes}}
// expected-note@+3 {{the least, by the ratio of the work: 17408 with 1.0, 17408 with 1.15, 15360 with any}}
// expected-note@+4 {{the most bytes are live here}}
// expected-note@+2 {{the first step; the rows of 2 of 2 are carried}}
func.func @chain(%x: tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32> {
  %a = relay.tanh %x : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  // expected-remark@+1 {{3 steps in 32 stripes of 1/2 rows: 17408 bytes live, not 73728; work +0.0 %, 0 bytes of weights read again, 243712 bytes of rows copied, 9 calls of kernels}}
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32>
  func.return %y : tensor<1x16x4x32xf32>
}

// -----

// What needs the most bytes once the chain is computed in stripes is named.
//
// expected-remark@+4 {{73732 bytes are live at most, 40964 in stripes}}
// expected-note@+3 {{the least, by the ratio of the work}}
// expected-note@+5 {{the most bytes are live here}}
// expected-note@+3 {{the first step; the rows of 2 of 2 are carried}}
func.func @step_that_stays(%x: tensor<1x32x8x32xf32>, %w: tensor<32x256xf32>)
    -> (tensor<1x16x4x32xf32>, tensor<f32>) {
  %a = relay.tanh %x : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  // expected-remark@+1 {{3 steps in}}
  %c = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32>
  // expected-note@+1 {{in stripes, the most are here, outside of all chains}}
  %y = relay.cumsum %w {axis = 1} : (tensor<32x256xf32>) -> tensor<32x256xf32>
  %s = relay.sum %y : (tensor<32x256xf32>) -> tensor<f32>
  func.return %c, %s : tensor<1x16x4x32xf32>, tensor<f32>
}
