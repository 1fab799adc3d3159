// RUN: xrelay-opt -p plan-devices,fuse-ops,outline-primitives,create-shape-functions,manifest-alloc,simplify-shapes,convert-relay-to-linalg %s | filecheck %s

// An image that was padded is two larger than the result of its convolution, and than what is added.
//
// CHECK-LABEL: relay.prim_func @fused_nn_conv2d_add(
// CHECK-NOT:     tensor.extract
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<1x4x?x2xf32>
// CHECK:         %[[M:.*]] = arith.subi %[[N]], %{{.*}}
// CHECK:         tensor.empty(%[[M]])
// CHECK:         linalg.generic {{.*}} ins({{.*}}) outs({{.*}} : tensor<1x4x?x2xf32>)
// CHECK-NOT:     tensor.extract
// CHECK:         relay.yield
func.func @main(%x: tensor<1x4x?x2xf32>, %w: tensor<1x3x2x2xf32>) -> tensor<1x4x?x2xf32> {
  %z = relay.constant dense<0.0> : tensor<f32>
  %p = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>} : (tensor<1x4x?x2xf32>, tensor<f32>) -> tensor<1x4x?x2xf32>
  %c = relay.nn.conv2d %p, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x?x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x4x?x2xf32>
  %y = relay.add %c, %x : (tensor<1x4x?x2xf32>, tensor<1x4x?x2xf32>) -> tensor<1x4x?x2xf32>
  func.return %y : tensor<1x4x?x2xf32>
}
