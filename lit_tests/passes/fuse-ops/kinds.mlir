// RUN: xrelay-opt --split-input-file -p fuse-ops %s | filecheck %s

// Elementwise operators after a convolution join it: bias and activation.
//
// CHECK-LABEL: @conv_bias_relu
// CHECK-NEXT:    %[[R:.*]] = relay.primitive(%[[X:.*]] = %x : {{.*}}, %[[W:.*]] = %w : {{.*}}, %[[B:.*]] = %b : tensor<8xf32>) -> (tensor<1x8x6x6xf32>) {
// CHECK-NEXT:      %[[C:.*]] = relay.nn.conv2d %[[X]], %[[W]]
// CHECK-NEXT:      %[[A:.*]] = relay.nn.bias_add %[[C]], %[[B]]
// CHECK-NEXT:      %[[Y:.*]] = relay.nn.relu %[[A]]
// CHECK-NEXT:      relay.yield %[[Y]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[R]]
func.func @conv_bias_relu(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x8x6x6xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %a = relay.nn.bias_add %c, %b : (tensor<1x8x6x6xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.nn.relu %a : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  func.return %y : tensor<1x8x6x6xf32>
}

// -----

// A chain of elementwise operators is one primitive.
//
// CHECK-LABEL: @chain
// CHECK-COUNT-1: relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.tanh
// CHECK-NEXT:      relay.negative
// CHECK-NEXT:      relay.yield
// CHECK-NOT:     relay.primitive
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.negative %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

// Both arms of a diamond join its top and bottom; an operand of both is passed once.
//
// CHECK-LABEL: @diamond
// CHECK-NEXT:    relay.primitive(%{{[^=]*}} = %x : tensor<4xf32>) -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[A:.*]] = relay.exp
// CHECK-NEXT:      %[[B:.*]] = relay.tanh %[[A]]
// CHECK-NEXT:      %[[C:.*]] = relay.negative %[[A]]
// CHECK-NEXT:      %[[D:.*]] = relay.add %[[B]], %[[C]]
// CHECK-NEXT:      relay.yield %[[D]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @diamond(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.add %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// -----

// A diamond with a convolution on one arm is not one kernel: its arms stay apart.
//
// CHECK-LABEL: @diamond_with_convolution
// CHECK:         relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK:         relay.primitive
// CHECK-NEXT:      relay.nn.conv2d
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.yield
// CHECK-NOT:     relay.primitive
func.func @diamond_with_convolution(%x: tensor<1x3x4x4xf32>, %w: tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32> {
  %a = relay.exp %x : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %b = relay.nn.conv2d %a, %w : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %c = relay.add %a, %b : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  func.return %c : tensor<1x3x4x4xf32>
}

// -----

// A reduction ends its primitive: operators before it join, operators after it do not.
//
// CHECK-LABEL: @reduction_last
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.sum
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.negative
// CHECK-NEXT:      relay.yield
func.func @reduction_last(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = relay.sum %a {axis = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %c = relay.negative %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

// Injective operators join each other and elementwise ones, in the second phase.
//
// CHECK-LABEL: @injective
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.transpose
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.concatenate
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @injective(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<16x4xf32> {
  %a = relay.transpose %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %b = relay.exp %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %c = relay.concatenate %b, %y {axis = 0} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  func.return %c : tensor<16x4xf32>
}

// -----

// An injective operator does not join the convolution before it.
//
// CHECK-LABEL: @convolution_then_injective
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.nn.conv2d
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.transpose
// CHECK-NEXT:      relay.yield
func.func @convolution_then_injective(%x: tensor<1x3x4x4xf32>, %w: tensor<3x3x1x1xf32>) -> tensor<4x4x3x1xf32> {
  %a = relay.nn.conv2d %x, %w : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %b = relay.transpose %a : (tensor<1x3x4x4xf32>) -> tensor<4x4x3x1xf32>
  func.return %b : tensor<4x4x3x1xf32>
}

// -----

// An elementwise operator joins the reduction after it, but never a convolution after it.
//
// CHECK-LABEL: @before_convolution
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.nn.conv2d
// CHECK-NEXT:      relay.yield
func.func @before_convolution(%x: tensor<1x3x4x4xf32>, %w: tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32> {
  %a = relay.exp %x : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %b = relay.nn.conv2d %a, %w : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  func.return %b : tensor<1x3x4x4xf32>
}

// -----

// An opaque operator has a primitive of its own.
//
// CHECK-LABEL: @opaque
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.nn.layer_norm
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.negative
// CHECK-NEXT:      relay.yield
func.func @opaque(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %a = relay.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = relay.nn.layer_norm %a, %g, %g : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %c = relay.negative %b : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}

// -----

// Elementwise operators join the softmax before them, but not the one after them.
//
// CHECK-LABEL: @softmax
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.nn.softmax
// CHECK-NEXT:      relay.cast
// CHECK-NEXT:      relay.yield
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf16> {
  %a = relay.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = relay.nn.softmax %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = relay.cast %b {dtype = f16} : (tensor<4x8xf32>) -> tensor<4x8xf16>
  func.return %c : tensor<4x8xf16>
}
