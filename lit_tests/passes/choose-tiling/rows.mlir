// RUN: xrelay-opt --split-input-file --verify-diagnostics -p choose-tiling %s | filecheck %s


// Pixels that channels become are reshapes: two rows come from one, so stripes are cut there.
//
// CHECK-LABEL: @shuffled_pixels
// CHECK:         relay.tanh %x {relay.stripes = {chain = 0 : i64, step = 0 : i64
// CHECK:         relay.reshape %c {relay.stripes = {chain = 0 : i64, step = 0 : i64
// CHECK:         relay.nn.max_pool2d %d {relay.stripes = {chain = 0 : i64, step = 1 : i64, axis = 2 : i64, height = "1/8"}
// expected-remark@+1 {{peak of live bytes from 10240 to 3072, work +0.0 %, 1 chain}}
func.func @shuffled_pixels(%x: tensor<1x8x16x16xf32>) -> tensor<1x2x16x16xf32> {
  %a = relay.tanh %x : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %b = relay.reshape %a {newshape = array<i64: 1, 2, 2, 2, 16, 16>}
    : (tensor<1x8x16x16xf32>) -> tensor<1x2x2x2x16x16xf32>
  %c = relay.transpose %b {axes = array<i64: 0, 1, 4, 2, 5, 3>}
    : (tensor<1x2x2x2x16x16xf32>) -> tensor<1x2x16x2x16x2xf32>
  %d = relay.reshape %c {newshape = array<i64: 1, 2, 32, 32>}
    : (tensor<1x2x16x2x16x2xf32>) -> tensor<1x2x32x32xf32>
  %y = relay.nn.max_pool2d %d {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x2x32x32xf32>) -> tensor<1x2x16x16xf32>
  func.return %y : tensor<1x2x16x16xf32>
}

// -----

// Rows of a signal, an image of one row, are along its width.
//
// CHECK-LABEL: @signal
// CHECK:         relay.nn.max_pool2d %b {relay.stripes = {chain = 0 : i64, step = 1 : i64, axis = 3 : i64
// expected-remark@+1 {{peak of live bytes from 3072 to 1216, work +0.0 %, 1 chain}}
func.func @signal(%x: tensor<1x8x1x64xf32>) -> tensor<1x8x1x32xf32> {
  %a = relay.nn.max_pool2d %x {pool_size = array<i64: 1, 3>, padding = array<i64: 0, 1, 0, 1>}
    : (tensor<1x8x1x64xf32>) -> tensor<1x8x1x64xf32>
  %b = relay.tanh %a : (tensor<1x8x1x64xf32>) -> tensor<1x8x1x64xf32>
  %y = relay.nn.max_pool2d %b {pool_size = array<i64: 1, 2>, strides = array<i64: 1, 2>}
    : (tensor<1x8x1x64xf32>) -> tensor<1x8x1x32xf32>
  func.return %y : tensor<1x8x1x32xf32>
}

// -----

// A step whose result is not used is in no chain.
//
// CHECK-LABEL: @unused
// CHECK-NOT:     relay.stripes
// expected-remark@+1 {{peak of live bytes from 36864 to 36864, work +0.0 %, 0 chains}}
func.func @unused(%x: tensor<1x8x32x16xf32>) -> tensor<1x8x16x8xf32> {
  %a = relay.tanh %x : (tensor<1x8x32x16xf32>) -> tensor<1x8x32x16xf32>
  %u = relay.sigmoid %a : (tensor<1x8x32x16xf32>) -> tensor<1x8x32x16xf32>
  %y = relay.nn.max_pool2d %a {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x8x32x16xf32>) -> tensor<1x8x16x8xf32>
  func.return %y : tensor<1x8x16x8xf32>
}

// -----

// Rows of a volume are along its depth.
//
// CHECK-LABEL: @volume
// CHECK:         relay.nn.conv3d {{.*}}relay.stripes = {chain = 0 : i64, step = 0 : i64, carried}
// CHECK:         relay.nn.max_pool3d {{.*}}relay.stripes = {chain = 0 : i64, step = 1 : i64, axis = 2 : i64, height = "1"}
// expected-remark@+1 {{peak of live bytes from 4160 to 1344, work +0.0 %, 1 chain}}
func.func @volume(%x: tensor<1x2x32x4x4xf32>, %w: tensor<2x2x3x3x3xf32>) -> tensor<1x2x8x1x1xf32> {
  %a = relay.nn.conv3d %x, %w {padding = array<i64: 1, 1, 1, 1, 1, 1>} : (tensor<1x2x32x4x4xf32>, tensor<2x2x3x3x3xf32>) -> tensor<1x2x32x4x4xf32>
  %y = relay.nn.max_pool3d %a {pool_size = array<i64: 4, 4, 4>, strides = array<i64: 4, 4, 4>} : (tensor<1x2x32x4x4xf32>) -> tensor<1x2x8x1x1xf32>
  func.return %y : tensor<1x2x8x1x1xf32>
}

// -----

// Stripes of a transposed convolution are cut where its windows begin.
//
// CHECK-LABEL: @transposed_convolution
// CHECK:         relay.nn.conv2d_transpose {{.*}}relay.stripes = {chain = 0 : i64, step = 0 : i64, carried}
// expected-remark@+1 {{peak of live bytes from 4352 to 896, work +0.0 %, 1 chain}}
func.func @transposed_convolution(%x: tensor<1x2x16x8xf32>, %w: tensor<2x2x2x2xf32>) -> tensor<1x2x8x4xf32> {
  %a = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>} : (tensor<1x2x16x8xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x32x16xf32>
  %y = relay.nn.max_pool2d %a {pool_size = array<i64: 4, 4>, strides = array<i64: 4, 4>} : (tensor<1x2x32x16xf32>) -> tensor<1x2x8x4xf32>
  func.return %y : tensor<1x2x8x4xf32>
}
