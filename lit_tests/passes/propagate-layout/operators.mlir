// RUN: xrelay-opt --split-input-file -p propagate-layout %s | filecheck %s

// Channels are last from a convolution on; the edges of the graph are as before.
//
// CHECK-LABEL: @edges
// CHECK-DAG:     %[[X:.*]] = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>}
// CHECK-DAG:     %[[W:.*]] = relay.transpose %w {axes = array<i64: 2, 3, 1, 0>}
// CHECK:         %[[C:.*]] = relay.nn.conv2d %[[X]], %[[W]] {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu %[[C]]
// CHECK-NEXT:    %[[P:.*]] = relay.nn.max_pool2d %[[R]] {{.*}}layout = "NHWC"
// CHECK-NEXT:    %[[Y:.*]] = relay.transpose %[[P]] {axes = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT:    return %[[Y]]
func.func @edges(%x: tensor<1x3x8x8xf32>) -> tensor<1x16x4x4xf32> {
  %w = relay.param "w" : tensor<16x3x1x1xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<16x3x1x1xf32>) -> tensor<1x16x8x8xf32>
  %r = relay.nn.relu %c : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %p = relay.nn.max_pool2d %r {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  func.return %p : tensor<1x16x4x4xf32>
}

// -----

// A convolution whose weights are computed stays.
//
// CHECK-LABEL: @weights_are_computed
// CHECK-NEXT:    relay.nn.conv2d %x, %w :
func.func @weights_are_computed(%x: tensor<1x3x8x8xf32>, %w: tensor<16x3x1x1xf32>)
    -> tensor<1x16x8x8xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<16x3x1x1xf32>) -> tensor<1x16x8x8xf32>
  func.return %c : tensor<1x16x8x8xf32>
}

// -----

// A channel shuffle splits, permutes and merges channels where they are last.
//
// CHECK-LABEL: @channel_shuffle
// CHECK:         %[[A:.*]] = relay.reshape {{.*}} -> tensor<1x4x4x2x3xf32>
// CHECK-NEXT:    %[[B:.*]] = relay.transpose %[[A]] {axes = array<i64: 0, 1, 2, 4, 3>}
// CHECK-NEXT:    %[[C:.*]] = relay.reshape %[[B]] {{.*}} -> tensor<1x4x4x6xf32>
// CHECK-NEXT:    relay.transpose %[[C]]
func.func @channel_shuffle(%l: tensor<1x4x4x6xf32>) -> tensor<1x6x4x4xf32> {
  %x = relay.transpose %l {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x6xf32>) -> tensor<1x6x4x4xf32>
  %a = relay.reshape %x {newshape = array<i64: 1, 2, 3, 4, 4>} : (tensor<1x6x4x4xf32>) -> tensor<1x2x3x4x4xf32>
  %b = relay.transpose %a {axes = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x3x4x4xf32>) -> tensor<1x3x2x4x4xf32>
  %y = relay.reshape %b {newshape = array<i64: 1, 6, 4, 4>} : (tensor<1x3x2x4x4xf32>) -> tensor<1x6x4x4xf32>
  func.return %y : tensor<1x6x4x4xf32>
}

// -----

// What broadcasts is widened and moved, but not a scalar; of two images, the other one is moved.
//
// CHECK-LABEL: @broadcasts
// CHECK:         %[[W:.*]] = relay.expand_dims %b
// CHECK-NEXT:    %[[B:.*]] = relay.transpose %[[W]] {axes = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT:    relay.add %l, %[[B]]
// CHECK:         relay.multiply %{{.*}}, %s
// CHECK:         %[[Y:.*]] = relay.transpose %y {axes = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT:    relay.add %{{.*}}, %[[Y]]
func.func @broadcasts(
    %l: tensor<1x4x4x6xf32>, %b: tensor<6x1x1xf32>, %s: tensor<f32>, %y: tensor<1x6x4x4xf32>)
    -> tensor<1x6x4x4xf32> {
  %x = relay.transpose %l {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x6xf32>) -> tensor<1x6x4x4xf32>
  %1 = relay.add %x, %b : (tensor<1x6x4x4xf32>, tensor<6x1x1xf32>) -> tensor<1x6x4x4xf32>
  %2 = relay.multiply %1, %s : (tensor<1x6x4x4xf32>, tensor<f32>) -> tensor<1x6x4x4xf32>
  %3 = relay.add %2, %y : (tensor<1x6x4x4xf32>, tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32>
  func.return %3 : tensor<1x6x4x4xf32>
}

// -----

// Flattened images go into a dense layer as they are; its weights are put in their order.
//
// CHECK-LABEL: @flattening
// CHECK:         %[[W:.*]] = relay.reshape %{{.*}} -> tensor<5x24xf32>
// CHECK:         %[[X:.*]] = relay.reshape %l {{.*}} -> tensor<2x24xf32>
// CHECK-NEXT:    relay.nn.dense %[[X]], %[[W]]
func.func @flattening(%l: tensor<2x2x2x6xf32>) -> tensor<2x5xf32> {
  %w = relay.param "w" : tensor<5x24xf32>
  %x = relay.transpose %l {axes = array<i64: 0, 3, 1, 2>} : (tensor<2x2x2x6xf32>) -> tensor<2x6x2x2xf32>
  %f = relay.nn.batch_flatten %x : (tensor<2x6x2x2xf32>) -> tensor<2x24xf32>
  %y = relay.nn.dense %f, %w : (tensor<2x24xf32>, tensor<5x24xf32>) -> tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}

// -----

// A mean over the pixels needs no move; one over rows alone does, and reads the old order.
//
// CHECK-LABEL: @reductions
// CHECK:         %[[X:.*]] = relay.transpose %l
// CHECK:         relay.mean %l {axis = array<i64: 1, 2>}
// CHECK:         relay.mean %[[X]] {axis = array<i64: 2>}
func.func @reductions(%l: tensor<2x3x4x6xf32>) -> (tensor<2x6xf32>, tensor<2x6x4xf32>) {
  %x = relay.transpose %l {axes = array<i64: 0, 3, 1, 2>} : (tensor<2x3x4x6xf32>) -> tensor<2x6x3x4xf32>
  %y = relay.mean %x {axis = array<i64: 2, 3>} : (tensor<2x6x3x4xf32>) -> tensor<2x6xf32>
  %z = relay.mean %x {axis = array<i64: 2>} : (tensor<2x6x3x4xf32>) -> tensor<2x6x4xf32>
  func.return %y, %z : tensor<2x6xf32>, tensor<2x6x4xf32>
}

// -----

// What is flattened has no channels that moved.
//
// CHECK-LABEL: @flattened
// CHECK-NEXT:    relay.param "w"
// CHECK-NEXT:    %[[F:.*]] = relay.reshape %x
// CHECK-NEXT:    relay.nn.dense %[[F]], %w
func.func @flattened(%x: tensor<2x3x2x2xf32>) -> tensor<2x5xf32> {
  %w = relay.param "w" : tensor<5x12xf32>
  %f = relay.reshape %x {newshape = array<i64: 2, 12>} : (tensor<2x3x2x2xf32>) -> tensor<2x12xf32>
  %y = relay.nn.dense %f, %w : (tensor<2x12xf32>, tensor<5x12xf32>) -> tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}
