// RUN: xrelay-opt --split-input-file --verify-diagnostics %s

func.func @integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{the operand of demo.scaled_tanh must have float elements, but has i32}}
  %y = demo.scaled_tanh %x : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error@+1 {{demo.as_rows needs a tensor of rank 1 or more, but has rank 0}}
  %y = demo.as_rows %x : (tensor<f32>) -> tensor<1x1xf32>
  func.return
}

// -----

func.func @other_rows(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{the result of demo.as_rows is tensor<6x4xf32>, but is declared as tensor<4x6xf32>}}
  %y = demo.as_rows %x : (tensor<2x3x4xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

func.func @nothing_is_the_least(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{dim 1 of demo.min_max must be at least 1, but is 0}}
  %a, %b = demo.min_max %x {axes = array<i64: 1>} : (tensor<2x0xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return
}

// -----

func.func @no_such_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{axis must be in [-1, 1), but is 1}}
  %a, %b = demo.min_max %x {axes = array<i64: 1>} : (tensor<2xf32>) -> (tensor<f32>, tensor<f32>)
  func.return
}
