// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'explain-tiling{work=1.0}' %s

// What keeps a step of open rows out of chains is said there: both sides of a join of scales have
// as many rows, or one of them 1.
//
// expected-remark@+2 {{bytes are live at most}}
// expected-note@+1 {{the least, by the ratio of the work}}
func.func @scales(%x: tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32> {
  // expected-note@+1 {{the most bytes are live here}}
  %a = relay.nn.max_pool2d %x {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  %b = relay.nn.upsampling %a {scale_h = 2.0 : f64, scale_w = 2.0 : f64, layout = "NHWC"} : (tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  // expected-remark@+1 {{this step is in no chain: of}}
  %y = relay.add %x, %b : (tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  func.return %y : tensor<1x?x?x8xf32>
}
