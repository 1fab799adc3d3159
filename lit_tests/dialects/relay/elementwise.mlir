// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators on each element of one tensor.

// CHECK-LABEL: @abs
// CHECK:       relay.abs %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @abs(%a0: tensor<2x3xf32>) {
  %0 = relay.abs %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @negative
// CHECK:       relay.negative %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @negative(%a0: tensor<2x3xf32>) {
  %0 = relay.negative %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @sign
// CHECK:       relay.sign %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sign(%a0: tensor<2x3xf32>) {
  %0 = relay.sign %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @ceil
// CHECK:       relay.ceil %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @ceil(%a0: tensor<2x3xf32>) {
  %0 = relay.ceil %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @floor
// CHECK:       relay.floor %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @floor(%a0: tensor<2x3xf32>) {
  %0 = relay.floor %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @round
// CHECK:       relay.round %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @round(%a0: tensor<2x3xf32>) {
  %0 = relay.round %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @clip
// CHECK:       relay.clip %a0 {a_min = -5.000000e-01 : f64, a_max = 5.000000e-01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @clip(%a0: tensor<2x3xf32>) {
  %0 = relay.clip %a0 {a_min = -5.000000e-01 : f64, a_max = 5.000000e-01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @exp
// CHECK:       relay.exp %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @exp(%a0: tensor<2x3xf32>) {
  %0 = relay.exp %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @log
// CHECK:       relay.log %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log(%a0: tensor<2x3xf32>) {
  %0 = relay.log %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @sqrt
// CHECK:       relay.sqrt %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sqrt(%a0: tensor<2x3xf32>) {
  %0 = relay.sqrt %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @rsqrt
// CHECK:       relay.rsqrt %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @rsqrt(%a0: tensor<2x3xf32>) {
  %0 = relay.rsqrt %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @sin
// CHECK:       relay.sin %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sin(%a0: tensor<2x3xf32>) {
  %0 = relay.sin %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @cos
// CHECK:       relay.cos %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @cos(%a0: tensor<2x3xf32>) {
  %0 = relay.cos %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @tan
// CHECK:       relay.tan %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @tan(%a0: tensor<2x3xf32>) {
  %0 = relay.tan %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @tanh
// CHECK:       relay.tanh %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @tanh(%a0: tensor<2x3xf32>) {
  %0 = relay.tanh %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @sigmoid
// CHECK:       relay.sigmoid %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sigmoid(%a0: tensor<2x3xf32>) {
  %0 = relay.sigmoid %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @erf
// CHECK:       relay.erf %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @erf(%a0: tensor<2x3xf32>) {
  %0 = relay.erf %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @isnan
// CHECK:       relay.isnan %a0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @isnan(%a0: tensor<2x3xf32>) {
  %0 = relay.isnan %a0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @relu
// CHECK:       relay.nn.relu %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @relu(%a0: tensor<2x3xf32>) {
  %0 = relay.nn.relu %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @leaky_relu
// CHECK:       relay.nn.leaky_relu %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:       relay.nn.leaky_relu %a1 {alpha = 2.500000e-01 : f64} : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @leaky_relu(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf64>) {
  %0 = relay.nn.leaky_relu %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.leaky_relu %a1 {alpha = 2.500000e-01 : f64} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return
}

// CHECK-LABEL: @gelu
// CHECK:       relay.nn.gelu %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:       relay.nn.gelu %a1 {approximate = "tanh"} : (tensor<9xf32>) -> tensor<9xf32>
func.func @gelu(%a0: tensor<2x3xf32>, %a1: tensor<9xf32>) {
  %0 = relay.nn.gelu %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.gelu %a1 {approximate = "tanh"} : (tensor<9xf32>) -> tensor<9xf32>
  func.return
}

// CHECK-LABEL: @copy
// CHECK:       relay.copy %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @copy(%a0: tensor<2x3xf32>) {
  %0 = relay.copy %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @logical_not
// CHECK:       relay.logical_not %a0 : (tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_not(%a0: tensor<2x3xi1>) {
  %0 = relay.logical_not %a0 : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @cast
// CHECK:       relay.cast %a0 {dtype = i32} : (tensor<2x3xf32>) -> tensor<2x3xi32>
func.func @cast(%a0: tensor<2x3xf32>) {
  %0 = relay.cast %a0 {dtype = i32} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: @full
// CHECK:       relay.full %a0 {shape = array<i64: 2, 3>} : (tensor<f32>) -> tensor<2x3xf32>
func.func @full(%a0: tensor<f32>) {
  %0 = relay.full %a0 {shape = array<i64: 2, 3>} : (tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @bitwise_not(
// CHECK:       relay.bitwise_not %a0 : (tensor<2x3xui8>) -> tensor<2x3xui8>
func.func @bitwise_not(%a0: tensor<2x3xui8>) {
  %0 = relay.bitwise_not %a0 : (tensor<2x3xui8>) -> tensor<2x3xui8>
  func.return
}

// CHECK-LABEL: @reinterpret(
// CHECK:       relay.reinterpret %a0 {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
func.func @reinterpret(%a0: tensor<4xf32>) {
  %0 = relay.reinterpret %a0 {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  func.return
}

// CHECK-LABEL: @fixed_point_multiply(
// CHECK:       relay.fixed_point_multiply %a0 {multiplier = 1073741824 : i64, shift = -2 : i64} : (tensor<4xi32>) -> tensor<4xi32>
func.func @fixed_point_multiply(%a0: tensor<4xi32>) {
  %0 = relay.fixed_point_multiply %a0 {multiplier = 1073741824 : i64, shift = -2 : i64} : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}
