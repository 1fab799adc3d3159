// RUN: xrelay-opt --split-input-file -p expand-lines %s | filecheck %s

// CHECK-LABEL:   func.func @convolution(
// CHECK-SAME:      %[[X:.*]]: tensor<1x3x8xf32>, %[[W:.*]]: tensor<16x3x3xf32>) -> tensor<1x16x4xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.reshape %[[X]] {newshape = array<i64: 1, 3, 1, 8>} : (tensor<1x3x8xf32>) -> tensor<1x3x1x8xf32>
// CHECK-NEXT:      %[[V1:.*]] = relay.reshape %[[W]] {newshape = array<i64: 16, 3, 1, 3>} : (tensor<16x3x3xf32>) -> tensor<16x3x1x3xf32>
// CHECK-NEXT:      %[[V2:.*]] = relay.nn.conv2d %[[V0]], %[[V1]] {strides = array<i64: 1, 2>, padding = array<i64: 0, 0, 0, 1>} : (tensor<1x3x1x8xf32>, tensor<16x3x1x3xf32>) -> tensor<1x16x1x4xf32>
// CHECK-NEXT:      %[[V3:.*]] = relay.reshape %[[V2]] {newshape = array<i64: 1, 16, 4>} : (tensor<1x16x1x4xf32>) -> tensor<1x16x4xf32>
// CHECK-NEXT:      func.return %[[V3]] : tensor<1x16x4xf32>
// CHECK-NEXT:    }
func.func @convolution(%x: tensor<1x3x8xf32>, %w: tensor<16x3x3xf32>) -> tensor<1x16x4xf32> {
  %0 = relay.nn.conv1d %x, %w {strides = array<i64: 2>, padding = array<i64: 0, 1>} : (tensor<1x3x8xf32>, tensor<16x3x3xf32>) -> tensor<1x16x4xf32>
  func.return %0 : tensor<1x16x4xf32>
}

// -----

// Where a dim is unknown, a row is added without a shape. Lines may have their channels last.
//
// CHECK-LABEL:   func.func @open(
// CHECK-SAME:      %[[X:.*]]: tensor<?x8x6xf32>, %[[W:.*]]: tensor<3x3x12xf32>) -> tensor<?x8x12xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.expand_dims %[[X]] {axis = 1 : i64} : (tensor<?x8x6xf32>) -> tensor<?x1x8x6xf32>
// CHECK-NEXT:      %[[V1:.*]] = relay.reshape %[[W]] {newshape = array<i64: 1, 3, 3, 12>} : (tensor<3x3x12xf32>) -> tensor<1x3x3x12xf32>
// CHECK-NEXT:      %[[V2:.*]] = relay.nn.conv2d %[[V0]], %[[V1]] {padding = array<i64: 0, 2, 0, 2>, dilation = array<i64: 1, 2>, groups = 2 : i64, data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<?x1x8x6xf32>, tensor<1x3x3x12xf32>) -> tensor<?x1x8x12xf32>
// CHECK-NEXT:      %[[V3:.*]] = relay.squeeze %[[V2]] {axis = array<i64: 1>} : (tensor<?x1x8x12xf32>) -> tensor<?x8x12xf32>
// CHECK-NEXT:      func.return %[[V3]] : tensor<?x8x12xf32>
// CHECK-NEXT:    }
func.func @open(%x: tensor<?x8x6xf32>, %w: tensor<3x3x12xf32>) -> tensor<?x8x12xf32> {
  %0 = relay.nn.conv1d %x, %w {padding = array<i64: 2, 2>, dilation = array<i64: 2>, groups = 2, data_layout = "NWC", kernel_layout = "WIO"} : (tensor<?x8x6xf32>, tensor<3x3x12xf32>) -> tensor<?x8x12xf32>
  func.return %0 : tensor<?x8x12xf32>
}

// -----

// CHECK-LABEL:   func.func @transposed(
// CHECK-SAME:      %[[X:.*]]: tensor<1x4x5xf32>, %[[W:.*]]: tensor<4x3x3xf32>) -> tensor<1x3x10xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.reshape %[[X]] {newshape = array<i64: 1, 4, 1, 5>} : (tensor<1x4x5xf32>) -> tensor<1x4x1x5xf32>
// CHECK-NEXT:      %[[V1:.*]] = relay.reshape %[[W]] {newshape = array<i64: 4, 3, 1, 3>} : (tensor<4x3x3xf32>) -> tensor<4x3x1x3xf32>
// CHECK-NEXT:      %[[V2:.*]] = relay.nn.conv2d_transpose %[[V0]], %[[V1]] {strides = array<i64: 1, 2>, padding = array<i64: 0, 1, 0, 1>, output_padding = array<i64: 0, 1>} : (tensor<1x4x1x5xf32>, tensor<4x3x1x3xf32>) -> tensor<1x3x1x10xf32>
// CHECK-NEXT:      %[[V3:.*]] = relay.reshape %[[V2]] {newshape = array<i64: 1, 3, 10>} : (tensor<1x3x1x10xf32>) -> tensor<1x3x10xf32>
// CHECK-NEXT:      func.return %[[V3]] : tensor<1x3x10xf32>
// CHECK-NEXT:    }
func.func @transposed(%x: tensor<1x4x5xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x3x10xf32> {
  %0 = relay.nn.conv1d_transpose %x, %w {strides = array<i64: 2>, padding = array<i64: 1, 1>, output_padding = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<4x3x3xf32>) -> tensor<1x3x10xf32>
  func.return %0 : tensor<1x3x10xf32>
}

// -----

// Nothing but an image is between two pools.
//
// CHECK-LABEL:   func.func @pools(
// CHECK-SAME:      %[[X:.*]]: tensor<1x3x8xf32>) -> tensor<1x3x3xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.reshape %[[X]] {newshape = array<i64: 1, 3, 1, 8>} : (tensor<1x3x8xf32>) -> tensor<1x3x1x8xf32>
// CHECK-NEXT:      %[[V1:.*]] = relay.nn.max_pool2d %[[V0]] {pool_size = array<i64: 1, 2>} : (tensor<1x3x1x8xf32>) -> tensor<1x3x1x7xf32>
// CHECK-NEXT:      %[[V2:.*]] = relay.nn.avg_pool2d %[[V1]] {count_include_pad = true, pool_size = array<i64: 1, 3>, strides = array<i64: 1, 2>} : (tensor<1x3x1x7xf32>) -> tensor<1x3x1x3xf32>
// CHECK-NEXT:      %[[V3:.*]] = relay.reshape %[[V2]] {newshape = array<i64: 1, 3, 3>} : (tensor<1x3x1x3xf32>) -> tensor<1x3x3xf32>
// CHECK-NEXT:      func.return %[[V3]] : tensor<1x3x3xf32>
// CHECK-NEXT:    }
func.func @pools(%x: tensor<1x3x8xf32>) -> tensor<1x3x3xf32> {
  %0 = relay.nn.max_pool1d %x {pool_size = array<i64: 2>} : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
  %1 = relay.nn.avg_pool1d %0 {pool_size = array<i64: 3>, strides = array<i64: 2>, count_include_pad = true} : (tensor<1x3x7xf32>) -> tensor<1x3x3xf32>
  func.return %1 : tensor<1x3x3xf32>
}

// -----

// A transposed convolution of images has the element type of its operands.
//
// CHECK-LABEL:   func.func @stays(
// CHECK-SAME:      %[[X:.*]]: tensor<1x4x5xi8>, %[[W:.*]]: tensor<4x3x3xi8>) -> tensor<1x3x7xi32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.nn.conv1d_transpose %[[X]], %[[W]] {out_dtype = i32} : (tensor<1x4x5xi8>, tensor<4x3x3xi8>) -> tensor<1x3x7xi32>
// CHECK-NEXT:      func.return %[[V0]] : tensor<1x3x7xi32>
// CHECK-NEXT:    }
func.func @stays(%x: tensor<1x4x5xi8>, %w: tensor<4x3x3xi8>) -> tensor<1x3x7xi32> {
  %0 = relay.nn.conv1d_transpose %x, %w {out_dtype = i32} : (tensor<1x4x5xi8>, tensor<4x3x3xi8>) -> tensor<1x3x7xi32>
  func.return %0 : tensor<1x3x7xi32>
}

// -----

// Elementwise operators are on images until another operator reads lines.
//
// CHECK-LABEL:   func.func @elements(
// CHECK-SAME:      %[[X:.*]]: tensor<1x3x8xf32>, %[[W:.*]]: tensor<16x3x3xf32>, %[[B:.*]]: tensor<16xf32>) -> tensor<1x16x6xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.reshape %[[X]] {newshape = array<i64: 1, 3, 1, 8>} : (tensor<1x3x8xf32>) -> tensor<1x3x1x8xf32>
// CHECK-NEXT:      %[[V1:.*]] = relay.reshape %[[W]] {newshape = array<i64: 16, 3, 1, 3>} : (tensor<16x3x3xf32>) -> tensor<16x3x1x3xf32>
// CHECK-NEXT:      %[[V2:.*]] = relay.nn.conv2d %[[V0]], %[[V1]] : (tensor<1x3x1x8xf32>, tensor<16x3x1x3xf32>) -> tensor<1x16x1x6xf32>
// CHECK-NEXT:      %[[V3:.*]] = relay.nn.bias_add %[[V2]], %[[B]] : (tensor<1x16x1x6xf32>, tensor<16xf32>) -> tensor<1x16x1x6xf32>
// CHECK-NEXT:      %[[V4:.*]] = relay.nn.relu %[[V3]] : (tensor<1x16x1x6xf32>) -> tensor<1x16x1x6xf32>
// CHECK-NEXT:      %[[V5:.*]] = relay.reshape %[[V4]] {newshape = array<i64: 1, 16, 6>} : (tensor<1x16x1x6xf32>) -> tensor<1x16x6xf32>
// CHECK-NEXT:      %[[V6:.*]] = relay.nn.softmax %[[V5]] : (tensor<1x16x6xf32>) -> tensor<1x16x6xf32>
// CHECK-NEXT:      func.return %[[V6]] : tensor<1x16x6xf32>
// CHECK-NEXT:    }
func.func @elements(%x: tensor<1x3x8xf32>, %w: tensor<16x3x3xf32>, %b: tensor<16xf32>) -> tensor<1x16x6xf32> {
  %0 = relay.nn.conv1d %x, %w : (tensor<1x3x8xf32>, tensor<16x3x3xf32>) -> tensor<1x16x6xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x16x6xf32>, tensor<16xf32>) -> tensor<1x16x6xf32>
  %2 = relay.nn.relu %1 : (tensor<1x16x6xf32>) -> tensor<1x16x6xf32>
  %3 = relay.nn.softmax %2 : (tensor<1x16x6xf32>) -> tensor<1x16x6xf32>
  func.return %3 : tensor<1x16x6xf32>
}
