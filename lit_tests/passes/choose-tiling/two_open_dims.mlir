// RUN: xrelay-opt --split-input-file -p 'choose-tiling{work=1.0}' %s | filecheck %s

// Two open dims may differ: one of 1 row would be broadcast along the other.
//
// CHECK-LABEL: @may_differ
// CHECK-NOT:     relay.stripes
func.func @may_differ(%x: tensor<1x?x8x32xf32>, %z: tensor<1x?x8x32xf32>) -> tensor<1x?x4x32xf32> {
  %s = relay.add %x, %z : (tensor<1x?x8x32xf32>, tensor<1x?x8x32xf32>) -> tensor<1x?x8x32xf32>
  %y = relay.nn.max_pool2d %s {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x?x8x32xf32>) -> tensor<1x?x4x32xf32>
  func.return %y : tensor<1x?x4x32xf32>
}

// -----

// Dims of one name are one size.
//
// CHECK-LABEL: @one_name
// CHECK:         relay.stripes
func.func @one_name(%x: tensor<1x?x8x32xf32> {relay.dims = [1, "h", 8, 32]}, %z: tensor<1x?x8x32xf32> {relay.dims = [1, "h", 8, 32]}) -> tensor<1x?x4x32xf32> {
  %s = relay.add %x, %z : (tensor<1x?x8x32xf32>, tensor<1x?x8x32xf32>) -> tensor<1x?x8x32xf32>
  %y = relay.nn.max_pool2d %s {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x?x8x32xf32>) -> tensor<1x?x4x32xf32>
  func.return %y : tensor<1x?x4x32xf32>
}

// -----

// A chain of one open dim beside another: its size is its own.
//
// CHECK-LABEL: @beside
// CHECK:         relay.stripes
func.func @beside(%x: tensor<1x?x8x32xf32>, %n: tensor<?x32xf32>) -> (tensor<1x?x4x32xf32>, tensor<?x32xf32>) {
  %s = relay.tanh %x : (tensor<1x?x8x32xf32>) -> tensor<1x?x8x32xf32>
  %y = relay.nn.max_pool2d %s {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x?x8x32xf32>) -> tensor<1x?x4x32xf32>
  %t = relay.tanh %n : (tensor<?x32xf32>) -> tensor<?x32xf32>
  func.return %y, %t : tensor<1x?x4x32xf32>, tensor<?x32xf32>
}
