// RUN: xrelay-opt --split-input-file -p 'pack-weights{width=16 least=2048}' %s | filecheck %s

// A product with large weights is a convolution of an image one pixel high. Its reshapes are one
// with those before and after it.
//
// CHECK-LABEL: @rows
// CHECK-NEXT:    %[[W:.*]] = relay.param "w"
// CHECK-NEXT:    %[[T:.*]] = relay.transpose %[[W]]
// CHECK-NEXT:    %[[F:.*]] = relay.reshape %[[T]] {newshape = array<i64: 1, 1, 32, 2, 16>
// CHECK-NEXT:    %[[P:.*]] = relay.transpose %[[F]] {axes = array<i64: 3, 0, 1, 2, 4>} : {{.*}} -> tensor<2x1x1x32x16xf32>
// CHECK-NEXT:    %[[X:.*]] = relay.reshape %x {newshape = array<i64: 1, 1, 15, 32>
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.conv2d %[[X]], %[[P]] {data_layout = "NHWC", kernel_layout = "OHWI16o"} : {{.*}} -> tensor<1x1x15x32xf32>
// CHECK-NEXT:    %[[R:.*]] = relay.reshape %[[Y]] {newshape = array<i64: 3, 5, 32>
// CHECK-NEXT:    return %[[R]]
func.func @rows(%x: tensor<3x5x32xf32>) -> tensor<3x5x32xf32> {
  %w = relay.param "w" : tensor<32x32xf32>
  %t = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %0 = relay.reshape %x {newshape = array<i64: 15, 32>} : (tensor<3x5x32xf32>) -> tensor<15x32xf32>
  %1 = relay.nn.matmul %0, %t : (tensor<15x32xf32>, tensor<32x32xf32>) -> tensor<15x32xf32>
  %2 = relay.reshape %1 {newshape = array<i64: 3, 5, 32>} : (tensor<15x32xf32>) -> tensor<3x5x32xf32>
  func.return %2 : tensor<3x5x32xf32>
}

// -----

// Small weights stay, and those with a rest of a panel, that are transposed or computed, and
// those of any number of rows.
//
// CHECK-LABEL: @others
// CHECK-COUNT-5: relay.nn.matmul
func.func @others(%x: tensor<2x32xf32>, %v: tensor<32x32xf32>, %y: tensor<?x32xf32>)
    -> (tensor<2x8xf32>, tensor<2x24xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<?x32xf32>) {
  %small = relay.param "small" : tensor<32x8xf32>
  %rest = relay.param "rest" : tensor<32x24xf32>
  %w = relay.param "w" : tensor<32x32xf32>
  %0 = relay.nn.matmul %x, %small : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
  %1 = relay.nn.matmul %x, %rest : (tensor<2x32xf32>, tensor<32x24xf32>) -> tensor<2x24xf32>
  %2 = relay.nn.matmul %x, %w {transpose_b = true} : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
  %3 = relay.nn.matmul %x, %v : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
  %4 = relay.nn.matmul %y, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  func.return %0, %1, %2, %3, %4 : tensor<2x8xf32>, tensor<2x24xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<?x32xf32>
}
