// RUN: xrelay-opt --split-input-file -p expand-transposed-convolutions %s | filecheck %s

// A window as large as the stride: each pixel becomes a block, by a convolution of 1x1 windows.
//
// CHECK-LABEL: @blocks
// CHECK:         %[[L:.*]] = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>}
// CHECK:         %[[F:.*]] = relay.reshape {{.*}} -> tensor<1x1x2x12xf32>
// CHECK-NEXT:    %[[C:.*]] = relay.nn.conv2d %[[L]], %[[F]] {data_layout = "NHWC", kernel_layout = "HWIO"} : {{.*}} -> tensor<1x?x?x12xf32>
// CHECK-NEXT:    %[[B:.*]] = relay.reshape %[[C]] {{.*}} -> tensor<1x?x?x2x2x3xf32>
// CHECK-NEXT:    %[[T:.*]] = relay.transpose %[[B]] {axes = array<i64: 0, 1, 3, 2, 4, 5>}
// CHECK-NEXT:    %[[I:.*]] = relay.reshape %[[T]] {{.*}} -> tensor<1x?x?x3xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.transpose %[[I]] {axes = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT:    return %[[Y]]
func.func @blocks(%x: tensor<1x2x?x?xf32>) -> tensor<1x3x?x?xf32> {
  %w = relay.param "w" : tensor<2x3x2x2xf32>
  %y = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>} : (tensor<1x2x?x?xf32>, tensor<2x3x2x2xf32>) -> tensor<1x3x?x?xf32>
  func.return %y : tensor<1x3x?x?xf32>
}

// -----

// Three cells become two by two, with zeros, turned around. A pixel is cut off at each end.
//
// CHECK-LABEL: @zeros
// CHECK:         relay.nn.pad {{.*}} {pad_width = array<i64: 0, 0, 0, 0, 0, 1, 0, 1>}
// CHECK:         relay.reverse {{.*}} {axis = 3 : i64}
// CHECK:         relay.reverse {{.*}} {axis = 5 : i64}
// CHECK:         relay.nn.conv2d {{.*}} {padding = array<i64: 1, 1, 1, 1>, {{.*}} -> tensor<1x5x6x12xf32>
// CHECK:         relay.strided_slice {{.*}} {begin = array<i64: 1, 1>, end = array<i64: -1, -1>, axes = array<i64: 1, 2>}
func.func @zeros(%x: tensor<1x2x4x5xf32>) -> tensor<1x3x8x10xf32> {
  %w = relay.param "w" : tensor<2x3x3x3xf32>
  %y = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 1>} : (tensor<1x2x4x5xf32>, tensor<2x3x3x3xf32>) -> tensor<1x3x8x10xf32>
  func.return %y : tensor<1x3x8x10xf32>
}

// -----

// Along one side only, nothing moves.
//
// CHECK-LABEL: @line
// CHECK:         %[[C:.*]] = relay.nn.conv2d
// CHECK-NEXT:    %[[B:.*]] = relay.reshape %[[C]] {{.*}} -> tensor<1x1x9x5x3xf32>
// CHECK-NEXT:    relay.reshape %[[B]] {{.*}} -> tensor<1x1x45x3xf32>
func.func @line(%x: tensor<1x2x1x9xf32>) -> tensor<1x3x1x45xf32> {
  %w = relay.param "w" : tensor<2x3x1x5xf32>
  %y = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 1, 5>} : (tensor<1x2x1x9xf32>, tensor<2x3x1x5xf32>) -> tensor<1x3x1x45xf32>
  func.return %y : tensor<1x3x1x45xf32>
}

// -----

// Of stride 1, it is the convolution with the window turned around.
//
// CHECK-LABEL: @turned
// CHECK:         %[[C:.*]] = relay.nn.conv2d {{.*}} {padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64
// CHECK-NEXT:    relay.transpose %[[C]] {axes = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT:    return
func.func @turned(%x: tensor<1x4x4x5xf32>) -> tensor<1x6x4x5xf32> {
  %w = relay.param "w" : tensor<4x3x3x3xf32>
  %y = relay.nn.conv2d_transpose %x, %w {padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : (tensor<1x4x4x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x4x5xf32>
  func.return %y : tensor<1x6x4x5xf32>
}

// -----

// Dilated windows, and weights that are computed, stay.
//
// CHECK-LABEL: @stay
// CHECK-COUNT-2: relay.nn.conv2d_transpose
func.func @stay(%x: tensor<1x2x4x5xf32>, %v: tensor<2x3x2x2xf32>) -> (tensor<1x3x6x7xf32>, tensor<1x3x5x6xf32>) {
  %w = relay.param "w" : tensor<2x3x2x2xf32>
  %0 = relay.nn.conv2d_transpose %x, %w {dilation = array<i64: 2, 2>} : (tensor<1x2x4x5xf32>, tensor<2x3x2x2xf32>) -> tensor<1x3x6x7xf32>
  %1 = relay.nn.conv2d_transpose %x, %v : (tensor<1x2x4x5xf32>, tensor<2x3x2x2xf32>) -> tensor<1x3x5x6xf32>
  func.return %0, %1 : tensor<1x3x6x7xf32>, tensor<1x3x5x6xf32>
}
