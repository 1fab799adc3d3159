// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @negative() {
  // expected-error@+1 {{shape must be at least 0, but is -1}}
  %y = relay.zeros {shape = array<i64: 2, -1>, dtype = f32} : tensor<2x1xf32>
  func.return
}

// -----

func.func @negative_at_run_time() {
  %s = relay.constant dense<[2, -1]> : tensor<2xi64>
  // expected-error@+1 {{an element of shape must be at least 0, but is -1}}
  %y = relay.dyn.zeros %s {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// -----

func.func @unknown_rank(%s: tensor<?xi64>) {
  // expected-error@+1 {{the length of shape must be known, but is dynamic}}
  %y = relay.dyn.zeros %s {dtype = f32} : (tensor<?xi64>) -> tensor<?x?xf32>
  func.return
}

// -----

func.func @shape_of_floats(%v: tensor<f32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{shape must be a scalar or a vector of integers, but is tensor<2xf32>}}
  %y = relay.dyn.full %v, %s : (tensor<f32>, tensor<2xf32>) -> tensor<?x?xf32>
  func.return
}

// -----

func.func @a_known_shape(%v: tensor<f32>) {
  %s = relay.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{the result of relay.dyn.full is tensor<2x3xf32>, but is declared as tensor<2x4xf32>}}
  %y = relay.dyn.full %v, %s : (tensor<f32>, tensor<2xi64>) -> tensor<2x4xf32>
  func.return
}

// -----

func.func @step_of_nothing(%a: tensor<i32>) {
  %n = relay.constant dense<0> : tensor<i32>
  // expected-error@+1 {{the step of arange must not be 0}}
  %y = relay.arange %n, %n, %n {dtype = i32} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
  func.return
}

// -----

func.func @arange_of_another_dtype(%a: tensor<i32>, %b: tensor<i64>) {
  // expected-error@+1 {{stop must have dtype i32, but has i64}}
  %y = relay.arange %a, %b, %a {dtype = i32} : (tensor<i32>, tensor<i64>, tensor<i32>) -> tensor<?xi32>
  func.return
}

// -----

func.func @one_hot_axis(%i: tensor<3xi32>, %v: tensor<f32>) {
  // expected-error@+1 {{axis must be in [-2, 2), but is 2}}
  %y = relay.one_hot %i, %v, %v {depth = 4 : i64, axis = 2 : i64, dtype = f32} : (tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @one_hot_values(%i: tensor<3xi32>, %v: tensor<f32>) {
  // expected-error@+1 {{on_value must have dtype f16, but has f32}}
  %y = relay.one_hot %i, %v, %v {depth = 4 : i64, axis = 1 : i64, dtype = f16} : (tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf16>
  func.return
}
