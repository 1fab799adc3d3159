// RUN: xrelay-opt -p infer-types,simplify-inference,fold-constants,plan-devices,fuse-ops,outline-primitives %s | filecheck %s

// Convolution, batch norm and activation are one kernel. The weights are in a side file, so the
// scale is not folded into them; scale and shift are constants, as the statistics are.
//
// CHECK:       func.func @main(%x
// CHECK-COUNT-1: relay.call_lowered @fused_nn_conv2d_multiply_add_nn_relu
// CHECK-NOT:     relay.call_lowered
// CHECK:       func.return
// CHECK:       relay.prim_func @fused_nn_conv2d_multiply_add_nn_relu
// CHECK-NOT:   relay.prim_func
func.func @main(%x: tensor<1x3x8x8xf32>) -> !relay.incomplete {
  %w = relay.param "w" : tensor<8x3x3x3xf32>
  %s = relay.constant dense<2.0> : tensor<8xf32>
  %c = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> !relay.incomplete
  %y, %m, %v = relay.nn.batch_norm %c, %s, %s, %s, %s : (!relay.incomplete, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (!relay.incomplete, !relay.incomplete, !relay.incomplete)
  %r = relay.nn.relu %y : (!relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
