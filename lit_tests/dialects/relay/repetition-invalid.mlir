// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @shape(%x: tensor<2xf32>) {
  // expected-error@+1 {{dim 2 at axis -1 does not broadcast to 3}}
  %y = relay.broadcast_to %x {shape = array<i64: 4, 3>} : (tensor<2xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @times(%x: tensor<3xf32>) {
  // expected-error@+1 {{repeats must be at least 1, but is 0}}
  %y = relay.repeat %x {repeats = 0} : (tensor<3xf32>) -> tensor<0xf32>
  func.return
}

// -----

func.func @too_large(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 0 of the result must be below 2^63, but is 18446744073709551616}}
  %y = relay.tile %x {reps = array<i64: 4611686018427387904>} : (tensor<4xf32>) -> tensor<?xf32>
  func.return
}
