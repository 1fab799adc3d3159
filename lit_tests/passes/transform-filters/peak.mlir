// RUN: xrelay-opt -p 'transform-filters{peak=88000}' %s | filecheck %s
// RUN: xrelay-opt -p 'transform-filters{peak=120000}' %s | filecheck %s --check-prefix=ALL
// RUN: xrelay-opt -p 'transform-filters{peak=40000}' %s | filecheck %s --check-prefix=NONE

// Where the peak is only reached without the scratch memory of all convolutions, those stay for
// whose it has no room on top of what is live.
//
// CHECK-LABEL: @wide_and_narrow
// CHECK:         conv2d {{.*}}"HWIO"{{.*}} -> tensor<1x62x62x16xf32>
// CHECK:         conv2d {{.*}}F23{{.*}} -> tensor<1x29x29x16xf32>
// ALL:           conv2d {{.*}}F23{{.*}} -> tensor<1x62x62x16xf32>
// ALL:           conv2d {{.*}}F23{{.*}} -> tensor<1x29x29x16xf32>
// NONE-NOT:      F23
func.func @wide_and_narrow(%x: tensor<1x64x64x16xf32>) -> tensor<1x14x14x16xf32> {
  %w = relay.param "w" : tensor<3x3x16x16xf32>
  %a = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x64x64x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x62x62x16xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x62x62x16xf32>) -> tensor<1x31x31x16xf32>
  %c = relay.nn.conv2d %b, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x31x31x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x29x29x16xf32>
  %y = relay.nn.max_pool2d %c {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x29x29x16xf32>) -> tensor<1x14x14x16xf32>
  func.return %y : tensor<1x14x14x16xf32>
}
