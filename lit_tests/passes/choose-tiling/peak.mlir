// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'choose-tiling{peak=30KB}' %s | filecheck %s

// The stripes are the highest that fit.
//
// CHECK-LABEL: @fits
// CHECK:         height = "2"
// expected-remark@+1 {{peak of live bytes from 73728 to 27648, work +0.0 %, 1 chain}}
func.func @fits(%x: tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32> {
  %a = relay.tanh %x : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32>
  func.return %y : tensor<1x16x4x32xf32>
}

// -----

// A peak that is not reached is refused, with what is.
//
// expected-error@+1 {{a peak of 30000 bytes is not reached: the least is 32768}}
func.func @refused(%x: tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32> {
  %y = relay.cumsum %x {axis = 1} : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  func.return %y : tensor<1x32x8x32xf32>
}

// -----

// The bytes of a result of open dims are not known.
//
func.func @open(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  // expected-error@+1 {{the bytes of this result depend on open dims, so no peak can be kept: give the dims sizes}}
  %y = relay.tanh %x : (tensor<?x32xf32>) -> tensor<?x32xf32>
  func.return %y : tensor<?x32xf32>
}

// -----

// What a branch needs is part of the peak, besides what is live around it.
//
// expected-error@+1 {{a peak of 30000 bytes is not reached: the least is 98368}}
func.func @branch(%c: tensor<i1>, %x: tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32> {
  %b = relay.logical_not %c : (tensor<i1>) -> tensor<i1>
  %y = relay.if %b : tensor<i1> -> (tensor<1x32x8x32xf32>) {
    %a = relay.cumsum %x {axis = 1} : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
    %d = relay.cumsum %a {axis = 1} : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
    relay.yield %d : tensor<1x32x8x32xf32>
  } else {
    relay.yield %x : tensor<1x32x8x32xf32>
  }
  func.return %y : tensor<1x32x8x32xf32>
}

// -----

// What a call needs is part of the peak, besides what is live around it: here %a, and %y, which is
// not counted twice.
//
// expected-error@+1 {{a peak of 30000 bytes is not reached: the least is 32768}}
func.func @call(%x: tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32> {
  %a = relay.cumsum %x {axis = 1} : (tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  %y = func.call @called(%a) : (tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  func.return %y : tensor<1x8x8x32xf32>
}
// expected-remark@+1 {{peak of live bytes from 24576 to 24576}}
func.func private @called(%x: tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32> {
  %a = relay.cumsum %x {axis = 1} : (tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  %b = relay.cumsum %a {axis = 1} : (tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  %y = relay.add %a, %b : (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  func.return %y : tensor<1x8x8x32xf32>
}

// -----

// How often a recursion calls itself is not known.
//
func.func @recursion(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{what this call needs is not known, so no peak can be kept: inline the function}}
  %y = func.call @recursion(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A reshape of a value has its bytes: %a is not live twice.
//
// expected-error@+1 {{a peak of 30000 bytes is not reached: the least is 65536}}
func.func @view(%x: tensor<1x32x8x32xf32>) -> tensor<1x32x256xf32> {
  %a = relay.cumsum %x {axis = 1} : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %v = relay.reshape %a {newshape = array<i64: 1, 32, 256>} : (tensor<1x32x8x32xf32>) -> tensor<1x32x256xf32>
  %y = relay.cumsum %v {axis = 1} : (tensor<1x32x256xf32>) -> tensor<1x32x256xf32>
  func.return %y : tensor<1x32x256xf32>
}

// -----

// A peak is kept at the most rows at which stripes of an open height are written: what is outside
// of chains grows with the rows.
//
// CHECK-LABEL: @open_rows
// CHECK:         height = "32"
// expected-remark@+1 {{peak of live bytes from 147456 to 28800, work +0.0 %, 1 chain at 2048 rows}}
func.func @open_rows(%x: tensor<1x?x1x8xf32>) -> tensor<1x?x1x8xf32> {
  %a = relay.tanh %x : (tensor<1x?x1x8xf32>) -> tensor<1x?x1x8xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 1>, padding = array<i64: 1, 0, 1, 0>}
    : (tensor<1x?x1x8xf32>) -> tensor<1x?x1x8xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 4, 1>, strides = array<i64: 4, 1>}
    : (tensor<1x?x1x8xf32>) -> tensor<1x?x1x8xf32>
  func.return %y : tensor<1x?x1x8xf32>
}

// -----

// One is refused that is kept at fewer rows alone.
//
// expected-error@+1 {{a peak of 30000 bytes is not reached at 2048 rows: the least is 33472}}
func.func @open_rows_refused(%x: tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32> {
  %a = relay.tanh %x : (tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 1>, padding = array<i64: 1, 0, 1, 0>}
    : (tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 4, 1>, strides = array<i64: 4, 1>}
    : (tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  func.return %y : tensor<1x?x2x8xf32>
}

// -----

// No height is above its bounds.
//
// CHECK-LABEL: @bounded_rows
// CHECK:         height =
// expected-remark@+1 {{1 chain at 1000 rows}}
func.func @bounded_rows(%x: tensor<1x?x2x8xf32> {relay.dims = [1, "h", 2, 8]}) -> tensor<1x?x2x8xf32>
    attributes {relay.dim_bounds = {h = [1, 1000]}} {
  %a = relay.tanh %x : (tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 1>, padding = array<i64: 1, 0, 1, 0>}
    : (tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 4, 1>, strides = array<i64: 4, 1>}
    : (tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  func.return %y : tensor<1x?x2x8xf32>
}
