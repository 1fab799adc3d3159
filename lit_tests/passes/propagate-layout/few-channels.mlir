// RUN: xrelay-opt --split-input-file -p propagate-layout %s | filecheck %s

// Rows of 32 pixels are vectors, and one channel is not: the image goes back to channels first.
//
// CHECK-LABEL: @one
// CHECK:         %[[C:.*]] = relay.nn.conv2d {{.*}} {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    %[[F:.*]] = relay.transpose %[[C]] {axes = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT:    relay.nn.conv2d %[[F]], %v : {{.*}} -> tensor<1x1x4x32xf32>
func.func @one(%x: tensor<1x2x4x32xf32>) -> tensor<1x1x4x32xf32> {
  %w = relay.param "w" : tensor<8x2x1x1xf32>
  %v = relay.param "v" : tensor<1x8x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x4x32xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x4x32xf32>
  %1 = relay.nn.conv2d %0, %v : (tensor<1x8x4x32xf32>, tensor<1x8x1x1xf32>) -> tensor<1x1x4x32xf32>
  func.return %1 : tensor<1x1x4x32xf32>
}

// -----

// Not with a stride, or in short rows.
//
// CHECK-LABEL: @stride
// CHECK-COUNT-2: data_layout = "NHWC"
func.func @stride(%x: tensor<1x2x4x32xf32>) -> (tensor<1x1x4x16xf32>, tensor<1x1x1x8xf32>) {
  %w = relay.param "w" : tensor<1x2x1x1xf32>
  %v = relay.param "v" : tensor<1x2x4x25xf32>
  %0 = relay.nn.conv2d %x, %w {strides = array<i64: 1, 2>} : (tensor<1x2x4x32xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x16xf32>
  %1 = relay.nn.conv2d %x, %v : (tensor<1x2x4x32xf32>, tensor<1x2x4x25xf32>) -> tensor<1x1x1x8xf32>
  func.return %0, %1 : tensor<1x1x4x16xf32>, tensor<1x1x1x8xf32>
}
