// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators on quantized tensors.

// CHECK-LABEL: @quantize(
// CHECK:       qnn.quantize %a0, %a1, %a2 {out_dtype = ui8} : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xui8>
func.func @quantize(%a0: tensor<4xf32>, %a1: tensor<f32>, %a2: tensor<i32>) {
  %0 = qnn.quantize %a0, %a1, %a2 {out_dtype = ui8} : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xui8>
  func.return
}

// CHECK-LABEL: @dequantize(
// CHECK:       qnn.dequantize %a0, %a1, %a2 {axis = 1 : i64} : (tensor<2x3xi8>, tensor<3xf32>, tensor<i32>) -> tensor<2x3xf32>
func.func @dequantize(%a0: tensor<2x3xi8>, %a1: tensor<3xf32>, %a2: tensor<i32>) {
  %0 = qnn.dequantize %a0, %a1, %a2 {axis = 1 : i64} : (tensor<2x3xi8>, tensor<3xf32>, tensor<i32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @requantize(
// CHECK:       qnn.requantize %a0, %a1, %a2, %a3, %a4 {rounding = "TONEAREST", compute_dtype = "float32"} : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @requantize(%a0: tensor<4xi32>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.requantize %a0, %a1, %a2, %a3, %a4 {rounding = "TONEAREST", compute_dtype = "float32"} : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @add(
// CHECK:       qnn.add %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<4xi8>, tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @add(%a0: tensor<4xi8>, %a1: tensor<4xi8>, %a2: tensor<f32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<i32>, %a6: tensor<f32>, %a7: tensor<i32>) {
  %0 = qnn.add %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<4xi8>, tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @subtract(
// CHECK:       qnn.subtract %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<4xi8>, tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @subtract(%a0: tensor<4xi8>, %a1: tensor<4xi8>, %a2: tensor<f32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<i32>, %a6: tensor<f32>, %a7: tensor<i32>) {
  %0 = qnn.subtract %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<4xi8>, tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @mul(
// CHECK:       qnn.mul %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<2x4xi8>, tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>
func.func @mul(%a0: tensor<2x4xi8>, %a1: tensor<4xi8>, %a2: tensor<f32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<i32>, %a6: tensor<f32>, %a7: tensor<i32>) {
  %0 = qnn.mul %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<2x4xi8>, tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>
  func.return
}

// CHECK-LABEL: @concatenate(
// CHECK:       qnn.concatenate %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<2xi8>, tensor<3xi8>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<5xi8>
func.func @concatenate(%a0: tensor<2xi8>, %a1: tensor<3xi8>, %a2: tensor<f32>, %a3: tensor<f32>, %a4: tensor<i32>, %a5: tensor<i32>, %a6: tensor<f32>, %a7: tensor<i32>) {
  %0 = qnn.concatenate %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<2xi8>, tensor<3xi8>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<5xi8>
  func.return
}

// CHECK-LABEL: @dense(
// CHECK:       qnn.dense %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<2x4xui8>, tensor<3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x3xi32>
func.func @dense(%a0: tensor<2x4xui8>, %a1: tensor<3x4xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  %0 = qnn.dense %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<2x4xui8>, tensor<3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: @batch_matmul(
// CHECK:       qnn.batch_matmul %a0, %a1, %a2, %a3, %a4, %a5 {transpose_b = false} : (tensor<3x2x4xi8>, tensor<3x4x5xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<3x2x5xi32>
func.func @batch_matmul(%a0: tensor<3x2x4xi8>, %a1: tensor<3x4x5xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  %0 = qnn.batch_matmul %a0, %a1, %a2, %a3, %a4, %a5 {transpose_b = false} : (tensor<3x2x4xi8>, tensor<3x4x5xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<3x2x5xi32>
  func.return
}

// CHECK-LABEL: @conv2d(
// CHECK:       qnn.conv2d %a0, %a1, %a2, %a3, %a4, %a5 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<4xf32>) -> tensor<1x4x8x8xi32>
func.func @conv2d(%a0: tensor<1x3x8x8xui8>, %a1: tensor<4x3x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<4xf32>) {
  %0 = qnn.conv2d %a0, %a1, %a2, %a3, %a4, %a5 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<4xf32>) -> tensor<1x4x8x8xi32>
  func.return
}

// CHECK-LABEL: @conv2d_transpose(
// CHECK:       qnn.conv2d_transpose %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<1x2x4x4xi8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x3x5x5xi32>
func.func @conv2d_transpose(%a0: tensor<1x2x4x4xi8>, %a1: tensor<2x3x2x2xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  %0 = qnn.conv2d_transpose %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<1x2x4x4xi8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x3x5x5xi32>
  func.return
}

// CHECK-LABEL: @abs(
// CHECK:       qnn.abs %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @abs(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.abs %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @erf(
// CHECK:       qnn.erf %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @erf(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.erf %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @exp(
// CHECK:       qnn.exp %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @exp(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.exp %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @hardswish(
// CHECK:       qnn.hardswish %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @hardswish(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.hardswish %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @log(
// CHECK:       qnn.log %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @log(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.log %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @rsqrt(
// CHECK:       qnn.rsqrt %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @rsqrt(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.rsqrt %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @sigmoid(
// CHECK:       qnn.sigmoid %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @sigmoid(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.sigmoid %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @sqrt(
// CHECK:       qnn.sqrt %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @sqrt(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.sqrt %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @tanh(
// CHECK:       qnn.tanh %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
func.func @tanh(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  %0 = qnn.tanh %a0, %a1, %a2, %a3, %a4 : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}
