// RUN: xrelay-opt --split-input-file -p transform-filters %s | filecheck %s

// 3x3 filters of stride 1 are transformed, if channels and filters are whole panels.
//
// CHECK-LABEL: @transformed
// CHECK:         %[[U:.*]] = relay.nn.matmul %{{.*}}, %{{.*}} : (tensor<16x9xf32>, tensor<9x512xf32>) -> tensor<16x512xf32>
// CHECK:         %[[P:.*]] = relay.transpose {{.*}} -> tensor<2x4x4x16x16xf32>
// CHECK-NEXT:    relay.nn.conv2d %x, %[[P]] {data_layout = "NHWC", kernel_layout = "OHWI16o/F23"} : (tensor<1x9x8x16xf32>, tensor<2x4x4x16x16xf32>) -> tensor<1x7x6x32xf32>
func.func @transformed(%x: tensor<1x9x8x16xf32>) -> tensor<1x7x6x32xf32> {
  %w = relay.param "w" : tensor<3x3x16x32xf32>
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x9x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x7x6x32xf32>
  func.return %0 : tensor<1x7x6x32xf32>
}

// -----

// Others stay: small images, strides, channels that are not whole panels.
//
// CHECK-LABEL: @others
// CHECK-NOT:     F23
func.func @others(%x: tensor<1x7x9x16xf32>, %y: tensor<1x9x9x8xf32>)
    -> (tensor<1x5x7x16xf32>, tensor<1x4x4x16xf32>, tensor<1x7x7x16xf32>) {
  %w = relay.param "w" : tensor<3x3x16x16xf32>
  %v = relay.param "v" : tensor<3x3x8x16xf32>
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x7x9x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x5x7x16xf32>
  %1 = relay.nn.conv2d %y, %v {data_layout = "NHWC", kernel_layout = "HWIO", strides = array<i64: 2, 2>}
    : (tensor<1x9x9x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x4x4x16xf32>
  %2 = relay.nn.conv2d %y, %v {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x9x9x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x7x7x16xf32>
  func.return %0, %1, %2 : tensor<1x5x7x16xf32>, tensor<1x4x4x16xf32>, tensor<1x7x7x16xf32>
}
