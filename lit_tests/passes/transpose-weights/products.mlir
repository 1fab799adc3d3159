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
