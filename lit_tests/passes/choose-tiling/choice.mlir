// RUN: xrelay-opt --split-input-file --verify-diagnostics -p choose-tiling %s | filecheck %s

// The ops between the argument and the result are a chain. Windows of three rows carry two; what the
// pool reads is dead after it.
//
// CHECK-LABEL: @chain
// CHECK-SAME:    attributes {relay.tiling = {live = array<i64: 40960, 73728, 40960>, chains = ["3 steps in 32 stripes
// CHECK:         relay.tanh %x {relay.stripes = {chain = 0 : i64, step = 0 : i64, carried}}
// CHECK:         relay.nn.max_pool2d {{.*}}relay.stripes = {chain = 0 : i64, step = 1 : i64, carried}
// CHECK:         relay.nn.max_pool2d {{.*}}relay.stripes = {chain = 0 : i64, step = 2 : i64, axis = 1 : i64, height = "1/2", joined = array<i64: 0>}
// expected-remark@+1 {{peak of live bytes from 73728 to 17408, work +0.0 %, 1 chain}}
func.func @chain(%x: tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32> {
  %a = relay.tanh %x : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32>
  func.return %y : tensor<1x16x4x32xf32>
}

// -----

// The last product reads all of %a, so %a is outside of the chain.
//
// CHECK-LABEL: @read_as_a_whole
// CHECK:         %a = relay.nn.dense %x, %x :
// CHECK:         relay.nn.dense %a, %x {relay.stripes = {chain = 0 : i64, step = 0 : i64
// CHECK:         relay.nn.dense %b, %a {relay.stripes = {chain = 0 : i64, step = 1 : i64
// expected-remark@+1 {{peak of live bytes from 768 to 640, work +0.0 %, 1 chain}}
func.func @read_as_a_whole(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = relay.nn.dense %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = relay.nn.dense %a, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = relay.nn.dense %b, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %c : tensor<8x8xf32>
}

// -----

// Nothing is gained where a single step has the peak, or nothing is computed by rows.
//
// CHECK-LABEL: @single
// CHECK-NOT:     relay.stripes
// expected-remark@+1 {{peak of live bytes from 1024 to 1024, work +0.0 %, 0 chains}}
func.func @single(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %y = relay.cumsum %x {axis = 1} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  func.return %y : tensor<1x8x8x4xf32>
}

// -----

// Results of open dims count as nothing.
//
// expected-remark@+1 {{peak of live bytes from 0 to 0, work +0.0 %, 0 chains, without 1 result of open dims}}
func.func @open(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = relay.tanh %x : (tensor<?x32xf32>) -> tensor<?x32xf32>
  func.return %y : tensor<?x32xf32>
}
