// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis must be in [-2, 2), but is 2}}
  %y = relay.sum %x {axis = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @same_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{duplicate axis 1}}
  %y = relay.sum %x {axis = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// The axes are an array, even if there is one.
func.func @one_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expected an array of i64 integers, but got 1 : i64}}
  %y = relay.sum %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// -----

// No elements have no greatest one.
func.func @empty(%x: tensor<0x3xf32>) {
  // expected-error@+1 {{relay.max cannot reduce axis 0: it has 0 elements}}
  %y = relay.max %x {axis = array<i64: 0>} : (tensor<0x3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @two_axes(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{relay.argmax must reduce one axis or all 3, but reduces 2}}
  %y = relay.argmax %x {axis = array<i64: 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4xi32>
  func.return
}
