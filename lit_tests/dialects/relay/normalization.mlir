// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Softmax and normalizations.

// CHECK-LABEL: @softmax
// CHECK:       relay.nn.softmax %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:       relay.nn.softmax %a1 {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
func.func @softmax(%a0: tensor<2x3xf32>, %a1: tensor<2x3x4xf32>) {
  %0 = relay.nn.softmax %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.softmax %a1 {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// CHECK-LABEL: @log_softmax
// CHECK:       relay.nn.log_softmax %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:       relay.nn.log_softmax %a1 {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
func.func @log_softmax(%a0: tensor<2x3xf32>, %a1: tensor<2x3x4xf32>) {
  %0 = relay.nn.log_softmax %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.log_softmax %a1 {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// CHECK-LABEL: @layer_norm
// CHECK:       relay.nn.layer_norm %a0, %a1, %a2 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
// CHECK:       relay.nn.layer_norm %a0, %a3, %a4 {axis = 1 : i64, epsilon = 1.000000e-02 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
// CHECK:       relay.nn.layer_norm %a5, %a6, %a7 {center = false} : (tensor<2x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
// CHECK:       relay.nn.layer_norm %a8, %a1, %a2 {scale = false} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @layer_norm(%a0: tensor<2x3x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<3xf32>, %a4: tensor<3xf32>, %a5: tensor<2x4xf64>, %a6: tensor<4xf64>, %a7: tensor<4xf64>, %a8: tensor<2x4xf32>) {
  %0 = relay.nn.layer_norm %a0, %a1, %a2 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %1 = relay.nn.layer_norm %a0, %a3, %a4 {axis = 1 : i64, epsilon = 1.000000e-02 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  %2 = relay.nn.layer_norm %a5, %a6, %a7 {center = false} : (tensor<2x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  %3 = relay.nn.layer_norm %a8, %a1, %a2 {scale = false} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// CHECK-LABEL: @batch_norm
// CHECK:       relay.nn.batch_norm %a0, %a1, %a2, %a3, %a4 : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK:       relay.nn.batch_norm %a5, %a1, %a2, %a3, %a4 {axis = -1 : i64, epsilon = 1.000000e-02 : f64} : (tensor<2x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK:       relay.nn.batch_norm %a6, %a7, %a8, %a9, %a10 {center = false, scale = false} : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>)
func.func @batch_norm(%a0: tensor<2x3x4x4xf32>, %a1: tensor<3xf32>, %a2: tensor<3xf32>, %a3: tensor<3xf32>, %a4: tensor<3xf32>, %a5: tensor<2x4x4x3xf32>, %a6: tensor<2x3xf64>, %a7: tensor<3xf64>, %a8: tensor<3xf64>, %a9: tensor<3xf64>, %a10: tensor<3xf64>) {
  %0, %1, %2 = relay.nn.batch_norm %a0, %a1, %a2, %a3, %a4 : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
  %3, %4, %5 = relay.nn.batch_norm %a5, %a1, %a2, %a3, %a4 {axis = -1 : i64, epsilon = 1.000000e-02 : f64} : (tensor<2x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %6, %7, %8 = relay.nn.batch_norm %a6, %a7, %a8, %a9, %a10 {center = false, scale = false} : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>)
  func.return
}

// CHECK-LABEL: @lrn
// CHECK:       relay.nn.lrn %a0 : (tensor<1x6x2x2xf32>) -> tensor<1x6x2x2xf32>
// CHECK:       relay.nn.lrn %a0 {size = 3 : i64, bias = 1.000000e+00 : f64, alpha = 5.000000e-01 : f64, beta = 5.000000e-01 : f64} : (tensor<1x6x2x2xf32>) -> tensor<1x6x2x2xf32>
// CHECK:       relay.nn.lrn %a1 {size = 4 : i64, axis = 3 : i64} : (tensor<1x2x2x7xf32>) -> tensor<1x2x2x7xf32>
func.func @lrn(%a0: tensor<1x6x2x2xf32>, %a1: tensor<1x2x2x7xf32>) {
  %0 = relay.nn.lrn %a0 : (tensor<1x6x2x2xf32>) -> tensor<1x6x2x2xf32>
  %1 = relay.nn.lrn %a0 {size = 3 : i64, bias = 1.000000e+00 : f64, alpha = 5.000000e-01 : f64, beta = 5.000000e-01 : f64} : (tensor<1x6x2x2xf32>) -> tensor<1x6x2x2xf32>
  %2 = relay.nn.lrn %a1 {size = 4 : i64, axis = 3 : i64} : (tensor<1x2x2x7xf32>) -> tensor<1x2x2x7xf32>
  func.return
}

// CHECK-LABEL: @nn_instance_norm(
// CHECK:       relay.nn.instance_norm %a0, %a1, %a2 : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
func.func @nn_instance_norm(%a0: tensor<2x3x4x5xf32>, %a1: tensor<3xf32>, %a2: tensor<3xf32>) {
  %0 = relay.nn.instance_norm %a0, %a1, %a2 : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  func.return
}

// CHECK-LABEL: @nn_group_norm(
// CHECK:       relay.nn.group_norm %a0, %a1, %a2 {num_groups = 3 : i64} : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
func.func @nn_group_norm(%a0: tensor<2x3x4x5xf32>, %a1: tensor<3xf32>, %a2: tensor<3xf32>) {
  %0 = relay.nn.group_norm %a0, %a1, %a2 {num_groups = 3 : i64} : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  func.return
}

// CHECK-LABEL: @nn_l2_normalize(
// CHECK:       relay.nn.l2_normalize %a0 {eps = 1.000000e-03 : f64, axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
func.func @nn_l2_normalize(%a0: tensor<2x3x4xf32>) {
  %0 = relay.nn.l2_normalize %a0 {eps = 1.000000e-03 : f64, axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// CHECK-LABEL: @nn_nll_loss(
// CHECK:       relay.nn.nll_loss %a0, %a1, %a2 : (tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>) -> tensor<f32>
func.func @nn_nll_loss(%a0: tensor<4x3xf32>, %a1: tensor<4xi32>, %a2: tensor<3xf32>) {
  %0 = relay.nn.nll_loss %a0, %a1, %a2 : (tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>) -> tensor<f32>
  func.return
}
