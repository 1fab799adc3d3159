// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis must be in [-2, 2), but is 2}}
  %y = relay.nn.softmax %x {axis = 2} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error@+1 {{axis is -1, but a tensor of rank 0 has no axes}}
  %y = relay.nn.softmax %x : (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @vectors(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<2xf32>) {
  // expected-error@+1 {{the dim of moving_mean must be 3, but is 2}}
  %y:3 = "relay.nn.batch_norm"(%x, %v, %v, %w, %v) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>)
  func.return
}

// -----

// A wrong result is named by its number when there are several.
func.func @third_result(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{result 2 of relay.nn.batch_norm is tensor<3xf32>, but is declared as tensor<2xf32>}}
  %y, %m, %s = relay.nn.batch_norm %x, %v, %v, %v, %v : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>)
  func.return
}
