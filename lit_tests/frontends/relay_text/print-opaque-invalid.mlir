// RUN: xrelay-opt -t relay-text --verify-diagnostics --split-input-file %s

// A call by name is written only where a reader would take the name for an unknown one.

func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{Relay text cannot call "nn.relu" by its name: it means another operator there}}
  %y = relay.call_opaque "nn.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @word(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{Relay text cannot call "if" by its name: it is a keyword there}}
  %y = relay.call_opaque "if"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
