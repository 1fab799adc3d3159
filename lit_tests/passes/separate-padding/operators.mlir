// RUN: xrelay-opt --split-input-file -p separate-padding %s | filecheck %s

// Images of convolutions are padded once for each padding.
//
// CHECK-LABEL: @convolutions
// CHECK-NEXT:    %[[ZERO:.*]] = relay.constant dense<0.0{{.*}}> : tensor<f32>
// CHECK-NEXT:    %[[P:.*]] = relay.nn.pad %x, %[[ZERO]] {pad_width = array<i64: 0, 0, 1, 1, 1, 1, 0, 0>} : (tensor<1x8x8x3xf32>, tensor<f32>) -> tensor<1x10x10x3xf32>
// CHECK-NEXT:    relay.nn.conv2d %[[P]], %w {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    relay.nn.conv2d %[[P]], %v {data_layout = "NHWC", kernel_layout = "HWIO"}
func.func @convolutions(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>, %v: tensor<3x3x3x5xf32>)
    -> (tensor<1x8x8x4xf32>, tensor<1x8x8x5xf32>) {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
  %1 = relay.nn.conv2d %x, %v {data_layout = "NHWC", kernel_layout = "HWIO", padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x8x8x5xf32>
  func.return %0, %1 : tensor<1x8x8x4xf32>, tensor<1x8x8x5xf32>
}

// -----

// What no window reaches is not made: of 8 + 1 + 1 cells, windows of 3 at strides of 2 read 9.
//
// CHECK-LABEL: @strides
// CHECK:         relay.nn.pad %x, {{.*}} {pad_width = array<i64: 0, 0, 0, 0, 1, 0, 1, 0>} : {{.*}} -> tensor<?x3x9x9xf32>
// CHECK-NEXT:    relay.nn.conv2d {{.*}} {strides = array<i64: 2, 2>} : {{.*}} -> tensor<?x4x4x4xf32>
func.func @strides(%x: tensor<?x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<?x4x4x4xf32> {
  %0 = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x4x4xf32>
  func.return %0 : tensor<?x4x4x4xf32>
}

// -----

// The padding of maxima is the least number, also where the last window extends past the image.
//
// CHECK-LABEL: @maxima
// CHECK:         relay.constant dense<-128> : tensor<i8>
// CHECK:         relay.nn.pad %x, {{.*}} {pad_width = array<i64: 0, 0, 0, 0, 0, 1, 0, 1>}
// CHECK-NEXT:    relay.nn.max_pool2d {{.*}} {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
func.func @maxima(%x: tensor<1x3x7x7xi8>) -> tensor<1x3x4x4xi8> {
  %0 = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, ceil_mode = true}
    : (tensor<1x3x7x7xi8>) -> tensor<1x3x4x4xi8>
  func.return %0 : tensor<1x3x4x4xi8>
}

// -----

// Means are scaled where padding does not count: a window at a corner has one cell of four inside.
//
// CHECK-LABEL: @means
// CHECK:         %[[P:.*]] = relay.nn.pad %x
// CHECK-NEXT:    relay.nn.avg_pool2d %[[P]]
// CHECK-NEXT:    %[[Q:.*]] = relay.nn.avg_pool2d %[[P]]
// CHECK-NEXT:    %[[H:.*]] = relay.constant dense<{{.*}}2.0{{.*}}> : tensor<1x1x8x1xf32>
// CHECK-NEXT:    %[[R:.*]] = relay.multiply %[[Q]], %[[H]]
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<{{.*}}2.0{{.*}}> : tensor<1x1x1x8xf32>
// CHECK-NEXT:    relay.multiply %[[R]], %[[W]]
func.func @means(%x: tensor<1x3x7x7xf32>) -> (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) {
  %0 = relay.nn.avg_pool2d %x {pool_size = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, count_include_pad = true}
    : (tensor<1x3x7x7xf32>) -> tensor<1x3x8x8xf32>
  %1 = relay.nn.avg_pool2d %x {pool_size = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x3x7x7xf32>) -> tensor<1x3x8x8xf32>
  func.return %0, %1 : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>
}

// -----

// A size that is unknown may be in the way; so is padding that makes a small image large.
//
// CHECK-LABEL: @others
// CHECK-NEXT:    relay.nn.max_pool2d %x
// CHECK-NEXT:    relay.nn.conv2d %y, %w
func.func @others(%x: tensor<1x3x?x7xf32>, %y: tensor<1x1x1x1xf32>, %w: tensor<1x1x1x1xf32>)
    -> (tensor<1x3x?x4xf32>, tensor<1x1x8001x8001xf32>) {
  %0 = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, ceil_mode = true}
    : (tensor<1x3x?x7xf32>) -> tensor<1x3x?x4xf32>
  %1 = relay.nn.conv2d %y, %w {padding = array<i64: 4000, 4000, 4000, 4000>}
    : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x8001x8001xf32>
  func.return %0, %1 : tensor<1x3x?x4xf32>, tensor<1x1x8001x8001xf32>
}
