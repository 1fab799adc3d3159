// RUN: xrelay-opt --split-input-file --verify-diagnostics -p aot %s

// expected-error@+1 {{the tensors of @main have 9223372036854775816 bytes, but must have fewer than 2^63}}
func.func @main(%x: tensor<1152921504606846977xf32>) -> tensor<1152921504606846977xf32> {
  %y = relay.exp %x : (tensor<1152921504606846977xf32>) -> tensor<1152921504606846977xf32>
  func.return %y : tensor<1152921504606846977xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{this tensor, and those that share memory with it, have 4611686018427387920 bytes, but must have fewer than 2^62}}
  %y = relay.broadcast_to %x {shape = array<i64: 288230376151711745, 4>}
      : (tensor<4xf32>) -> tensor<288230376151711745x4xf32>
  %z = relay.nn.softmax %y {axis = 0 : i64}
      : (tensor<288230376151711745x4xf32>) -> tensor<288230376151711745x4xf32>
  %s = relay.sum %z {axis = array<i64: 0>} : (tensor<288230376151711745x4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}
