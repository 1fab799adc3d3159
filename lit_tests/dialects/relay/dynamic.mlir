// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators whose sizes are operands.

// CHECK-LABEL: @dyn_reshape(
// CHECK:       relay.dyn.reshape %a0, %a1 : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.reshape %a2, %a3 {allowzero = true} : (tensor<0x4xi64>, tensor<3xi32>) -> tensor<?x?x?xi64>
func.func @dyn_reshape(%a0: tensor<2x3x4xf32>, %a1: tensor<2xi64>, %a2: tensor<0x4xi64>, %a3: tensor<3xi32>) {
  %0 = relay.dyn.reshape %a0, %a1 : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.reshape %a2, %a3 {allowzero = true} : (tensor<0x4xi64>, tensor<3xi32>) -> tensor<?x?x?xi64>
  func.return
}

// CHECK-LABEL: @dyn_squeeze(
// CHECK:       relay.dyn.squeeze %a0, %a1 : (tensor<1x2x1xf32>, tensor<1xi64>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.squeeze %a2, %a3 : (tensor<1xf32>, tensor<1xi32>) -> tensor<f32>
func.func @dyn_squeeze(%a0: tensor<1x2x1xf32>, %a1: tensor<1xi64>, %a2: tensor<1xf32>, %a3: tensor<1xi32>) {
  %0 = relay.dyn.squeeze %a0, %a1 : (tensor<1x2x1xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.squeeze %a2, %a3 : (tensor<1xf32>, tensor<1xi32>) -> tensor<f32>
  func.return
}

// CHECK-LABEL: @dyn_expand_dims(
// CHECK:       relay.dyn.expand_dims %a0, %a1 : (tensor<2x3xf32>, tensor<i64>) -> tensor<?x?x?xf32>
// CHECK:       relay.dyn.expand_dims %a2, %a3 {num_newaxis = 2 : i64} : (tensor<f32>, tensor<i32>) -> tensor<?x?xf32>
func.func @dyn_expand_dims(%a0: tensor<2x3xf32>, %a1: tensor<i64>, %a2: tensor<f32>, %a3: tensor<i32>) {
  %0 = relay.dyn.expand_dims %a0, %a1 : (tensor<2x3xf32>, tensor<i64>) -> tensor<?x?x?xf32>
  %1 = relay.dyn.expand_dims %a2, %a3 {num_newaxis = 2 : i64} : (tensor<f32>, tensor<i32>) -> tensor<?x?xf32>
  func.return
}

// CHECK-LABEL: @dyn_broadcast_to(
// CHECK:       relay.dyn.broadcast_to %a0, %a1 : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.broadcast_to %a2, %a3 : (tensor<i1>, tensor<0xi32>) -> tensor<i1>
func.func @dyn_broadcast_to(%a0: tensor<3xf32>, %a1: tensor<2xi64>, %a2: tensor<i1>, %a3: tensor<0xi32>) {
  %0 = relay.dyn.broadcast_to %a0, %a1 : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.broadcast_to %a2, %a3 : (tensor<i1>, tensor<0xi32>) -> tensor<i1>
  func.return
}

// CHECK-LABEL: @dyn_tile(
// CHECK:       relay.dyn.tile %a0, %a1 : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.tile %a2, %a3 : (tensor<2x3xi8>, tensor<1xi32>) -> tensor<2x?xi8>
func.func @dyn_tile(%a0: tensor<3xf32>, %a1: tensor<2xi64>, %a2: tensor<2x3xi8>, %a3: tensor<1xi32>) {
  %0 = relay.dyn.tile %a0, %a1 : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.tile %a2, %a3 : (tensor<2x3xi8>, tensor<1xi32>) -> tensor<2x?xi8>
  func.return
}

// CHECK-LABEL: @dyn_strided_slice(
// CHECK:       relay.dyn.strided_slice %a0, %a1, %a2, %a3 : (tensor<5x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.strided_slice %a0, %a4, %a5, %a6 {axes = array<i64: 1>} : (tensor<5x6xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5x?xf32>
func.func @dyn_strided_slice(%a0: tensor<5x6xf32>, %a1: tensor<2xi64>, %a2: tensor<2xi64>, %a3: tensor<2xi64>, %a4: tensor<1xi32>, %a5: tensor<1xi32>, %a6: tensor<1xi32>) {
  %0 = relay.dyn.strided_slice %a0, %a1, %a2, %a3 : (tensor<5x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.strided_slice %a0, %a4, %a5, %a6 {axes = array<i64: 1>} : (tensor<5x6xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5x?xf32>
  func.return
}

// CHECK-LABEL: @dyn_nn_pad(
// CHECK:       relay.dyn.nn.pad %a0, %a1, %a2 : (tensor<2x3xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.nn.pad %a3, %a4, %a5 {pad_mode = "reflect"} : (tensor<2x3xi64>, tensor<2x2xi32>, tensor<i64>) -> tensor<?x?xi64>
func.func @dyn_nn_pad(%a0: tensor<2x3xf32>, %a1: tensor<2x2xi64>, %a2: tensor<f32>, %a3: tensor<2x3xi64>, %a4: tensor<2x2xi32>, %a5: tensor<i64>) {
  %0 = relay.dyn.nn.pad %a0, %a1, %a2 : (tensor<2x3xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<?x?xf32>
  %1 = relay.dyn.nn.pad %a3, %a4, %a5 {pad_mode = "reflect"} : (tensor<2x3xi64>, tensor<2x2xi32>, tensor<i64>) -> tensor<?x?xi64>
  func.return
}
