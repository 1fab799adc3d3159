// RUN: xrelay-opt --verify-diagnostics --split-input-file -p create-shape-functions %s

// An operator without a rule over sizes is an error with the cure.

relay.prim_func @opaque(%x: tensor<?xf32>) -> tensor<?xf32> attributes {impure} {
  // expected-error@+1 {{relay.call_opaque has no rule over sizes, so the shapes of its results cannot be computed: give it one, InferTypes(typed(rule)) with a Rule of xrelay.operators.rules}}
  %0 = relay.call_opaque "nn.fancy"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// The elements that an operator reads for its shape must not be computed in the same kernel.

relay.prim_func @inside(%p: tensor<2xi64>, %x: tensor<?xf32>) -> tensor<?x?xf32> {
  // expected-note@+1 {{relay.abs is here}}
  %0 = relay.abs %p : (tensor<2xi64>) -> tensor<2xi64>
  // expected-error@+1 {{the result shape of relay.dyn.reshape depends on the elements of its operand 1, but relay.abs computes them in the same kernel}}
  %1 = relay.dyn.reshape %x, %0 {allowzero = false} : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  relay.yield %1 : tensor<?x?xf32>
}
