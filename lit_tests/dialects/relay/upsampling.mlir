// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK-LABEL: @dyn_nn_upsampling(
// CHECK:       relay.dyn.nn.upsampling %a0, %a1, %a2 : (tensor<1x2x3x4xi8>, tensor<f32>, tensor<f32>) -> tensor<1x2x?x?xi8>
func.func @dyn_nn_upsampling(%a0: tensor<1x2x3x4xi8>, %a1: tensor<f32>, %a2: tensor<f32>) {
  %0 = relay.dyn.nn.upsampling %a0, %a1, %a2 : (tensor<1x2x3x4xi8>, tensor<f32>, tensor<f32>) -> tensor<1x2x?x?xi8>
  func.return
}

// CHECK-LABEL: @nn_upsampling3d(
// CHECK:       relay.nn.upsampling3d %a0 {scale_d = 2.000000e+00 : f64, scale_h = 1.500000e+00 : f64, scale_w = 3.000000e+00 : f64} : (tensor<1x2x2x3x4xi8>) -> tensor<1x2x4x4x12xi8>
func.func @nn_upsampling3d(%a0: tensor<1x2x2x3x4xi8>) {
  %0 = relay.nn.upsampling3d %a0 {scale_d = 2.000000e+00 : f64, scale_h = 1.500000e+00 : f64, scale_w = 3.000000e+00 : f64} : (tensor<1x2x2x3x4xi8>) -> tensor<1x2x4x4x12xi8>
  func.return
}

// CHECK-LABEL: @dyn_nn_upsampling3d(
// CHECK:       relay.dyn.nn.upsampling3d %a0, %a1, %a2, %a3 : (tensor<1x2x2x3x4xi8>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1x2x?x?x?xi8>
func.func @dyn_nn_upsampling3d(%a0: tensor<1x2x2x3x4xi8>, %a1: tensor<f32>, %a2: tensor<f32>, %a3: tensor<f32>) {
  %0 = relay.dyn.nn.upsampling3d %a0, %a1, %a2, %a3 : (tensor<1x2x2x3x4xi8>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1x2x?x?x?xi8>
  func.return
}
