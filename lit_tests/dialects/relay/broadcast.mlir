// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators on tensors that are broadcast together.

// CHECK-LABEL: @add
// CHECK:       relay.add %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @add(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.add %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @subtract
// CHECK:       relay.subtract %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @subtract(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.subtract %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @multiply
// CHECK:       relay.multiply %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @multiply(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.multiply %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @divide
// CHECK:       relay.divide %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @divide(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.divide %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @power
// CHECK:       relay.power %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @power(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.power %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @mod
// CHECK:       relay.mod %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @mod(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.mod %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @floor_mod
// CHECK:       relay.floor_mod %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @floor_mod(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.floor_mod %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @floor_divide
// CHECK:       relay.floor_divide %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @floor_divide(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.floor_divide %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @maximum
// CHECK:       relay.maximum %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @maximum(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.maximum %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @minimum
// CHECK:       relay.minimum %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @minimum(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.minimum %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @logical_and
// CHECK:       relay.logical_and %a0, %a1 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_and(%a0: tensor<2x3xi1>, %a1: tensor<2x3xi1>) {
  %0 = relay.logical_and %a0, %a1 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @logical_or
// CHECK:       relay.logical_or %a0, %a1 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_or(%a0: tensor<2x3xi1>, %a1: tensor<2x3xi1>) {
  %0 = relay.logical_or %a0, %a1 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @logical_xor
// CHECK:       relay.logical_xor %a0, %a1 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_xor(%a0: tensor<2x3xi1>, %a1: tensor<2x3xi1>) {
  %0 = relay.logical_xor %a0, %a1 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @equal
// CHECK:       relay.equal %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @equal(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.equal %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @not_equal
// CHECK:       relay.not_equal %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @not_equal(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.not_equal %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @less
// CHECK:       relay.less %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @less(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.less %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @less_equal
// CHECK:       relay.less_equal %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @less_equal(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.less_equal %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @greater
// CHECK:       relay.greater %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @greater(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.greater %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @greater_equal
// CHECK:       relay.greater_equal %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @greater_equal(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.greater_equal %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @where
// CHECK:       relay.where %a0, %a1, %a2 : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @where(%a0: tensor<2x3xi1>, %a1: tensor<2x3xf32>, %a2: tensor<2x3xf32>) {
  %0 = relay.where %a0, %a1, %a2 : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @bias_add
// CHECK:       relay.nn.bias_add %a0, %a1 : (tensor<1x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
// CHECK:       relay.nn.bias_add %a2, %a3 {axis = -1 : i64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @bias_add(%a0: tensor<1x3x2x2xf32>, %a1: tensor<3xf32>, %a2: tensor<2x4xf32>, %a3: tensor<4xf32>) {
  %0 = relay.nn.bias_add %a0, %a1 : (tensor<1x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
  %1 = relay.nn.bias_add %a2, %a3 {axis = -1 : i64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// CHECK-LABEL: @prelu
// CHECK:       relay.nn.prelu %a0, %a1 : (tensor<1x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
// CHECK:       relay.nn.prelu %a2, %a3 {axis = -1 : i64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @prelu(%a0: tensor<1x3x2x2xf32>, %a1: tensor<3xf32>, %a2: tensor<2x4xf32>, %a3: tensor<4xf32>) {
  %0 = relay.nn.prelu %a0, %a1 : (tensor<1x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
  %1 = relay.nn.prelu %a2, %a3 {axis = -1 : i64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// CHECK-LABEL: @bitwise_and(
// CHECK:       relay.bitwise_and %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
func.func @bitwise_and(%a0: tensor<2x3xi32>, %a1: tensor<3xi32>) {
  %0 = relay.bitwise_and %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: @bitwise_or(
// CHECK:       relay.bitwise_or %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
func.func @bitwise_or(%a0: tensor<2x3xi32>, %a1: tensor<3xi32>) {
  %0 = relay.bitwise_or %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: @bitwise_xor(
// CHECK:       relay.bitwise_xor %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
func.func @bitwise_xor(%a0: tensor<2x3xi32>, %a1: tensor<3xi32>) {
  %0 = relay.bitwise_xor %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: @left_shift(
// CHECK:       relay.left_shift %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
func.func @left_shift(%a0: tensor<2x3xi32>, %a1: tensor<3xi32>) {
  %0 = relay.left_shift %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: @right_shift(
// CHECK:       relay.right_shift %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
func.func @right_shift(%a0: tensor<2x3xi32>, %a1: tensor<3xi32>) {
  %0 = relay.right_shift %a0, %a1 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}
