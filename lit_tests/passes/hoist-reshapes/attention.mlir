// RUN: xrelay-opt --split-input-file -p hoist-reshapes %s | filecheck %s

// A reshape is moved to the op that computes what it reshapes.
//
// CHECK-LABEL: @values_of_attention
// CHECK-NEXT:    %v = relay.tanh %x
// CHECK-NEXT:    %w = relay.reshape %v
// CHECK-NEXT:    relay.nn.softmax
// CHECK-NEXT:    relay.nn.batch_matmul
func.func @values_of_attention(%x: tensor<1x2x4x8xf32>, %a: tensor<2x4x4xf32>) -> tensor<2x4x8xf32> {
  %v = relay.tanh %x : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %s = relay.nn.softmax %a : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = relay.reshape %v {newshape = array<i64: 2, 4, 8>}
    : (tensor<1x2x4x8xf32>) -> tensor<2x4x8xf32>
  %y = relay.nn.batch_matmul %s, %w {transpose_b = false}
    : (tensor<2x4x4xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return %y : tensor<2x4x8xf32>
}

// -----

// Two of the same stay in order, and one of a parameter stays where it is.
//
// CHECK-LABEL: @stay
// CHECK-NEXT:    %a = relay.tanh %x
// CHECK-NEXT:    %b = relay.reshape %a
// CHECK-NEXT:    %c = relay.expand_dims %a
// CHECK-NEXT:    %d = relay.tanh %b
// CHECK-NEXT:    relay.reshape %x
func.func @stay(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<1x4x8xf32>, tensor<8x4xf32>) {
  %a = relay.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = relay.reshape %a {newshape = array<i64: 32>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %d = relay.tanh %b : (tensor<32xf32>) -> tensor<32xf32>
  %c = relay.expand_dims %a {axis = 0 : i64, num_newaxis = 1 : i64}
    : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  %e = relay.reshape %x {newshape = array<i64: 8, 4>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return %d, %c, %e : tensor<32xf32>, tensor<1x4x8xf32>, tensor<8x4xf32>
}

// -----

// What is reshaped to computed sizes stays behind them.
//
// CHECK-LABEL: @computed
// CHECK:         %t = relay.shape_of %b
// CHECK-NEXT:    relay.dyn.reshape %a, %t
func.func @computed(%x: tensor<?x8xf32>, %b: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %a = relay.tanh %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %t = relay.shape_of %b {dtype = i64} : (tensor<?x4xf32>) -> tensor<2xi64>
  %c = relay.dyn.reshape %a, %t : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %c : tensor<?x?xf32>
}
