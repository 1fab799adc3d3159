// RUN: xrelay-opt --verify-diagnostics --split-input-file -p lambda-lift %s

// Types are inferred before closures are lifted.

func.func @incomplete() {
  // expected-error@+1 {{the type of this closure is incomplete: run infer-types first}}
  %f = relay.fn (%a: tensor<f32>) -> !relay.incomplete {
    relay.yield %a : tensor<f32>
  }
  func.return
}
