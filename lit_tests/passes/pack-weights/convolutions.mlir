// RUN: xrelay-opt --split-input-file -p 'pack-weights{width=16 least=4096}' %s | filecheck %s

// The filters of large weights are put into panels of 16, once for all that read them.
//
// CHECK-LABEL: @large
// CHECK-NEXT:    %[[W:.*]] = relay.param "w"
// CHECK-NEXT:    %[[S:.*]] = relay.reshape %[[W]] {newshape = array<i64: 3, 3, 8, 2, 16>{{.*}}}
// CHECK-NEXT:    %[[P:.*]] = relay.transpose %[[S]] {axes = array<i64: 3, 0, 1, 2, 4>} : {{.*}} -> tensor<2x3x3x8x16xf32>
// CHECK-NEXT:    relay.nn.conv2d %x, %[[P]] {data_layout = "NHWC", kernel_layout = "OHWI16o"} : (tensor<1x6x6x8xf32>, tensor<2x3x3x8x16xf32>) -> tensor<1x4x4x32xf32>
// CHECK-NEXT:    relay.nn.conv2d %y, %[[P]] {data_layout = "NHWC", kernel_layout = "OHWI16o"}
func.func @large(%x: tensor<1x6x6x8xf32>, %y: tensor<1x4x4x8xf32>) -> (tensor<1x4x4x32xf32>, tensor<1x2x2x32xf32>) {
  %w = relay.param "w" : tensor<3x3x8x32xf32>
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x6x6x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x4x4x32xf32>
  %1 = relay.nn.conv2d %y, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x4x4x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x2x2x32xf32>
  func.return %0, %1 : tensor<1x4x4x32xf32>, tensor<1x2x2x32xf32>
}

// -----

// Zeros fill the last panel if they are few, and their results are cut off.
//
// CHECK-LABEL: @few_zeros
// CHECK:         %[[P:.*]] = relay.nn.pad %{{.*}} {pad_width = array<i64: 0, 0, 0, 0, 0, 0, 0, 8>
// CHECK-NEXT:    relay.reshape %[[P]] {newshape = array<i64: 1, 1, 8, 17, 16>
// CHECK:         %[[Y:.*]] = relay.nn.conv2d {{.*}} -> tensor<1x6x6x272xf32>
// CHECK-NEXT:    relay.strided_slice %[[Y]] {{.*}} -> tensor<1x6x6x264xf32>
func.func @few_zeros(%x: tensor<1x6x6x8xf32>) -> tensor<1x6x6x264xf32> {
  %w = relay.param "w" : tensor<1x1x8x264xf32>
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x6x6x8xf32>, tensor<1x1x8x264xf32>) -> tensor<1x6x6x264xf32>
  func.return %0 : tensor<1x6x6x264xf32>
}

// -----

// Small weights stay, and those with a rest of a panel, of groups, or that are computed.
//
// CHECK-LABEL: @others
// CHECK-NOT:     relay.reshape
func.func @others(%x: tensor<1x6x6x8xf32>, %v: tensor<3x3x8x32xf32>)
    -> (tensor<1x6x6x16xf32>, tensor<1x4x4x30xf32>, tensor<1x4x4x64xf32>, tensor<1x4x4x32xf32>) {
  %small = relay.param "small" : tensor<1x1x8x16xf32>
  %rest = relay.param "rest" : tensor<3x3x8x30xf32>
  %grouped = relay.param "grouped" : tensor<3x3x4x64xf32>
  %0 = relay.nn.conv2d %x, %small {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x6x6x8xf32>, tensor<1x1x8x16xf32>) -> tensor<1x6x6x16xf32>
  %1 = relay.nn.conv2d %x, %rest {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x6x6x8xf32>, tensor<3x3x8x30xf32>) -> tensor<1x4x4x30xf32>
  %2 = relay.nn.conv2d %x, %grouped {data_layout = "NHWC", kernel_layout = "HWIO", groups = 2 : i64}
    : (tensor<1x6x6x8xf32>, tensor<3x3x4x64xf32>) -> tensor<1x4x4x64xf32>
  %3 = relay.nn.conv2d %x, %v {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x6x6x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x4x4x32xf32>
  func.return %0, %1, %2, %3 : tensor<1x6x6x16xf32>, tensor<1x4x4x30xf32>, tensor<1x4x4x64xf32>, tensor<1x4x4x32xf32>
}
