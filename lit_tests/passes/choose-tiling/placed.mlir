// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'choose-tiling{peak=16KiB}' %s | filecheck %s

// The parts of a join are where it has them: 8,192 bytes besides those of the result of the
// function. With a copy, 24,576 bytes were live.
//
// CHECK-LABEL: @join
// expected-remark@+1 {{peak of live bytes from 16384 to 16384, work +0.0 %, 0 chains}}
func.func @join(%x: tensor<1x32x32xf32>) -> tensor<1x64x32xf32> {
  %a = relay.cumsum %x {axis = 1} : (tensor<1x32x32xf32>) -> tensor<1x32x32xf32>
  %b = relay.cumsum %x {axis = 2} : (tensor<1x32x32xf32>) -> tensor<1x32x32xf32>
  %c = relay.concatenate %a, %b {axis = 1}
    : (tensor<1x32x32xf32>, tensor<1x32x32xf32>) -> tensor<1x64x32xf32>
  %y = relay.cumsum %c {axis = 1} : (tensor<1x64x32xf32>) -> tensor<1x64x32xf32>
  func.return %y : tensor<1x64x32xf32>
}

// -----

// So are those of a join of joins, and a part that is used after the first join.
//
// CHECK-LABEL: @join_of_joins
// expected-remark@+1 {{peak of live bytes from 16384 to 16384, work +0.0 %, 0 chains}}
func.func @join_of_joins(%x: tensor<1x16x32xf32>) -> tensor<1x64x32xf32> {
  %a = relay.cumsum %x {axis = 1} : (tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
  %b = relay.cumsum %a {axis = 2} : (tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
  %c = relay.concatenate %a, %b {axis = 1}
    : (tensor<1x16x32xf32>, tensor<1x16x32xf32>) -> tensor<1x32x32xf32>
  %d = relay.cumsum %c {axis = 1} : (tensor<1x32x32xf32>) -> tensor<1x32x32xf32>
  %e = relay.concatenate %a, %b, %d {axis = 1}
    : (tensor<1x16x32xf32>, tensor<1x16x32xf32>, tensor<1x32x32xf32>) -> tensor<1x64x32xf32>
  %y = relay.cumsum %e {axis = 1} : (tensor<1x64x32xf32>) -> tensor<1x64x32xf32>
  func.return %y : tensor<1x64x32xf32>
}

// -----

// A value that is in a join twice is copied the second time.
//
// CHECK-LABEL: @twice
// expected-remark@+1 {{peak of live bytes from 16384 to 16384, work +0.0 %, 0 chains}}
func.func @twice(%x: tensor<1x32x32xf32>) -> tensor<1x64x32xf32> {
  %a = relay.cumsum %x {axis = 1} : (tensor<1x32x32xf32>) -> tensor<1x32x32xf32>
  %c = relay.concatenate %a, %a {axis = 1}
    : (tensor<1x32x32xf32>, tensor<1x32x32xf32>) -> tensor<1x64x32xf32>
  %y = relay.cumsum %c {axis = 1} : (tensor<1x64x32xf32>) -> tensor<1x64x32xf32>
  func.return %y : tensor<1x64x32xf32>
}

// -----

// Parts that are not contiguous in the result are copied.
//
// expected-error@+1 {{a peak of 16384 bytes is not reached: the least is 24576}}
func.func @inner_axis(%x: tensor<1x32x32xf32>) -> tensor<1x32x64xf32> {
  %a = relay.cumsum %x {axis = 1} : (tensor<1x32x32xf32>) -> tensor<1x32x32xf32>
  %b = relay.cumsum %x {axis = 2} : (tensor<1x32x32xf32>) -> tensor<1x32x32xf32>
  %c = relay.concatenate %a, %b {axis = 2}
    : (tensor<1x32x32xf32>, tensor<1x32x32xf32>) -> tensor<1x32x64xf32>
  %y = relay.cumsum %c {axis = 1} : (tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
  func.return %y : tensor<1x32x64xf32>
}

// -----

// A result of the function is written over what it is computed from: 16,000 bytes, not twice as
// many.
//
// CHECK-LABEL: @over
// expected-remark@+1 {{peak of live bytes from 16000 to 16000, work +0.0 %, 0 chains}}
func.func @over(%x: tensor<4x8xf32>, %w: tensor<1000x8xf32>) -> tensor<4x1000xf32> {
  %a = relay.nn.dense %x, %w : (tensor<4x8xf32>, tensor<1000x8xf32>) -> tensor<4x1000xf32>
  %y = relay.nn.softmax %a : (tensor<4x1000xf32>) -> tensor<4x1000xf32>
  func.return %y : tensor<4x1000xf32>
}

// -----

// Slices of rows are views: 8,192 bytes besides the result, which has 4,096. With copies, 16,384
// were live besides it.
//
// CHECK-LABEL: @slices
// expected-remark@+1 {{peak of live bytes from 12288 to 12288, work +0.0 %, 0 chains}}
func.func @slices(%x: tensor<1x64x32xf32>) -> tensor<1x32x32xf32> {
  %a = relay.cumsum %x {axis = 1} : (tensor<1x64x32xf32>) -> tensor<1x64x32xf32>
  %b, %c = relay.split %a {axis = 1, indices_or_sections = 2}
    : (tensor<1x64x32xf32>) -> (tensor<1x32x32xf32>, tensor<1x32x32xf32>)
  %y = relay.nn.batch_matmul %b, %c
    : (tensor<1x32x32xf32>, tensor<1x32x32xf32>) -> tensor<1x32x32xf32>
  func.return %y : tensor<1x32x32xf32>
}
