// RUN: xrelay-opt -p fold-constants %s | filecheck %s
// RUN: xrelay-opt -p 'fold-constants{max-work=12}' %s | filecheck %s --check-prefix=LESS
// RUN: not xrelay-opt -p 'fold-constants{max-work=-1}' %s 2>&1 | filecheck %s --check-prefix=ERROR

// An operator is computed if its results' elements times its operands' are at most `max-work`,
// by default 2^24.
//
// CHECK-LABEL: @at_the_limit
// CHECK-DAG:     relay.constant dense<4.000000e+00> : tensor<2x1xf32>
// CHECK-DAG:     relay.constant dense<8.000000e+00> : tensor<f32>
// CHECK-NOT:     relay.sum
//
// LESS-LABEL:  @at_the_limit
// LESS:          relay.sum %{{.*}} -> tensor<2x1xf32>
// LESS:          relay.constant dense<8.000000e+00> : tensor<f32>
//
// ERROR:       error: max-work must be at least 0, but is -1
func.func @at_the_limit() -> (tensor<2x1xf32>, tensor<f32>) {
  %x = relay.constant dense<1.0> : tensor<2x4xf32>
  %a = relay.sum %x {axis = array<i64: 1>, keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %b = relay.sum %x : (tensor<2x4xf32>) -> tensor<f32>
  func.return %a, %b : tensor<2x1xf32>, tensor<f32>
}

// The size of the operands counts too: 2^5 times 2^20 elements.
//
// CHECK-LABEL: @large_operand
// CHECK:         relay.sum
func.func @large_operand() -> tensor<32xi8> {
  %x = relay.constant dense<1> : tensor<32x32768xi8>
  %y = relay.sum %x {axis = array<i64: 1>} : (tensor<32x32768xi8>) -> tensor<32xi8>
  func.return %y : tensor<32xi8>
}

// The extent of windows and padding does not count, and costs nothing.
//
// CHECK-LABEL: @far_windows
// CHECK-NEXT:    relay.constant dense<1.000000e+00> : tensor<1x1x5x4xf32>
func.func @far_windows() -> tensor<1x1x5x4xf32> {
  %x = relay.constant dense<1.0> : tensor<1x1x4x4xf32>
  %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 1000000000000, 1>, padding = array<i64: 500000000000, 0, 500000000000, 0>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// Nor does the extent of a tensor without elements.
//
// CHECK-LABEL: @no_elements
// CHECK-NEXT:    relay.constant dense<> : tensor<0x1000000000003xf32>
func.func @no_elements() -> tensor<0x1000000000003xf32> {
  %x = relay.constant dense<> : tensor<0x3xf32>
  %v = relay.constant dense<0.0> : tensor<f32>
  %y = relay.nn.pad %x, %v {pad_width = array<i64: 0, 0, 1000000000000, 0>, pad_mode = "edge"} : (tensor<0x3xf32>, tensor<f32>) -> tensor<0x1000000000003xf32>
  func.return %y : tensor<0x1000000000003xf32>
}
