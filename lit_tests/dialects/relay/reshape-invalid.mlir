// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @elements(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{cannot reshape a tensor of 2x3 to 4, -1}}
  %y = relay.reshape %x {newshape = array<i64: 4, -1>} : (tensor<2x3xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @code(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{newshape entries must be at least -4, but entry 1 is -5}}
  %y = relay.reshape %x {newshape = array<i64: 6, -5>} : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return
}

// -----

func.func @no_dim_to_copy(%x: tensor<6xf32>) {
  // expected-error@+1 {{newshape entry 1 is 0, which needs dim 1 of the operand, but its rank is 1}}
  %y = relay.reshape %x {newshape = array<i64: 6, 0>} : (tensor<6xf32>) -> tensor<6x1xf32>
  func.return
}

// -----

func.func @dim_to_squeeze(%x: tensor<1x2xf32>) {
  // expected-error@+1 {{dim 1 must be 1 to be squeezed, but is 2}}
  %y = relay.squeeze %x {axis = array<i64: 1>} : (tensor<1x2xf32>) -> tensor<1xf32>
  func.return
}

// -----

// Which dims are 1 must be known.
func.func @dynamic_squeeze(%x: tensor<1x?xf32>) {
  // expected-error@+1 {{squeeze needs axis: dim 1 of the operand is dynamic}}
  %y = relay.squeeze %x : (tensor<1x?xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis must be in [-3, 2], but is 3}}
  %y = relay.expand_dims %x {axis = 3} : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  func.return
}
