// RUN: xrelay-opt --split-input-file --verify-diagnostics -p infer-types %s

// The result type of an unknown operator is the declared one.

func.func @declared(%x: tensor<?xf32>) -> tensor<?xi8> {
  %y = relay.call_opaque "nn.fancy"(%x) : (tensor<?xf32>) -> tensor<?xi8>
  func.return %y : tensor<?xi8>
}

// -----

func.func @undeclared(%x: tensor<?xf32>) -> tensor<?xi8> {
  // expected-error@+1 {{the type of this value cannot be inferred}}
  %y = relay.call_opaque "nn.fancy"(%x) : (tensor<?xf32>) -> !relay.incomplete
  %z = relay.cast %y {dtype = i8} : (!relay.incomplete) -> tensor<?xi8>
  func.return %z : tensor<?xi8>
}
