// RUN: xrelay-opt --split-input-file -p transpose-weights %s | filecheck %s

// The weights of dense layers are transposed, once for all that read them.
//
// CHECK-LABEL: @dense
// CHECK-NEXT:    %[[W:.*]] = relay.param "w"
// CHECK-NEXT:    %[[T:.*]] = relay.transpose %[[W]] {axes = array<i64: 1, 0>}
// CHECK-NEXT:    relay.nn.matmul %x, %[[T]] : (tensor<2x3x4xf32>, tensor<4x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT:    relay.nn.matmul %y, %[[T]] : (tensor<5x4xf32>, tensor<4x8xf32>) -> tensor<5x8xf32>
func.func @dense(%x: tensor<2x3x4xf32>, %y: tensor<5x4xf32>) -> (tensor<2x3x8xf32>, tensor<5x8xf32>) {
  %w = relay.param "w" : tensor<8x4xf32>
  %a = relay.nn.dense %x, %w : (tensor<2x3x4xf32>, tensor<8x4xf32>) -> tensor<2x3x8xf32>
  %b = relay.nn.matmul %y, %w {transpose_b = true} : (tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<5x8xf32>
  func.return %a, %b : tensor<2x3x8xf32>, tensor<5x8xf32>
}

// -----

// A product with an argument stays.
//
// CHECK-LABEL: @with_an_argument
// CHECK-NEXT:    relay.nn.dense %x, %w
func.func @with_an_argument(%x: tensor<5x4xf32>, %w: tensor<8x4xf32>) -> tensor<5x8xf32> {
  %a = relay.nn.dense %x, %w : (tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<5x8xf32>
  func.return %a : tensor<5x8xf32>
}

// -----

// Weights that were rearranged are weights.
//
// CHECK-LABEL: @rearranged
// CHECK:         %[[R:.*]] = relay.reshape
// CHECK-NEXT:    %[[T:.*]] = relay.transpose %[[R]] {axes = array<i64: 1, 0>}
// CHECK-NEXT:    relay.nn.matmul %x, %[[T]]
func.func @rearranged(%x: tensor<5x4xf32>) -> tensor<5x8xf32> {
  %w = relay.param "w" : tensor<8x2x2xf32>
  %t = relay.transpose %w {axes = array<i64: 0, 2, 1>} : (tensor<8x2x2xf32>) -> tensor<8x2x2xf32>
  %r = relay.reshape %t {newshape = array<i64: 8, 4>} : (tensor<8x2x2xf32>) -> tensor<8x4xf32>
  %a = relay.nn.dense %x, %r : (tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<5x8xf32>
  func.return %a : tensor<5x8xf32>
}
