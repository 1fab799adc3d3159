// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'choose-tiling{peak=30KB}' %s | filecheck %s

// The stripes are the highest that fit.
//
// CHECK-LABEL: @fits
// CHECK:         height = "2"
// expected-remark@+1 {{peak of live bytes from 73728 to 24576, work +0.0 %, 1 chain}}
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

// A function that is called needs bytes that are not known.
//
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{what this call needs is not part of the peak, so none can be kept: inline the function}}
  %y = func.call @tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func private @tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
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
