// RUN: xrelay-opt --verify-diagnostics --split-input-file -p plan-devices %s

// Two devices for one value are an error, with notes for the demands and what joins them.

func.func @two_hints(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{cpu:0 is asked for here: the hint says where its result is}}
  %a = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is asked for here: the hint says where its result is}}
  %b = relay.on_device %y, #relay.device<cuda:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %c = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

// expected-error@+3 {{one value would have to be on cpu:0 and on cpu:1}}
// expected-note@+2 {{cpu:0 is asked for here: parameter 0 of @signature is annotated}}
// expected-note@+1 {{cpu:1 is asked for here: result 0 of @signature is declared there}}
func.func @signature(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> (tensor<4xf32> {relay.device = #relay.device<cpu:1>}) {
  // expected-note@+1 {{result 0 of @signature is returned here}}
  func.return %x : tensor<4xf32>
}

// -----

// Types must be known: a hint on an incomplete one could not be planned.

func.func @incomplete(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the type of this value is incomplete; run infer-types before plan-devices}}
  %y = relay.negative %x : (tensor<4xf32>) -> !relay.incomplete
  func.return %x : tensor<4xf32>
}
