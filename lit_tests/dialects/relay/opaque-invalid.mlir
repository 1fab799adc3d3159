// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// What is called is an operator, on tensors.

%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{operator must be a dotted identifier, but is "nn..fancy"}}
%y = relay.call_opaque "nn..fancy"(%x) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{attribute names of nn.fancy must be dotted identifiers, but one is "a b"}}
%y = relay.call_opaque "nn.fancy"(%x) {"a b" = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = "test.op"() : () -> tuple<tensor<4xf32>>
// expected-error@+1 {{expected a ranked tensor, but got tuple<tensor<4xf32>>}}
%y = relay.call_opaque "nn.fancy"(%x) : (tuple<tensor<4xf32>>) -> tensor<4xf32>

// -----

// An operator without results would be one with an effect.

%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{debug must have a result, like every operator of Relay}}
relay.call_opaque "debug"(%x) : (tensor<4xf32>) -> ()

// -----

%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{tuples must be pairs of start and stop, in order, up to 1 operands, but is [1, 0]}}
%y = "relay.call_opaque"(%x) <{operator = "nn.fancy", tuples = array<i64: 1, 0>}> : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{tuples must be pairs of start and stop, in order, up to 1 operands, but is [0, 2]}}
%y = "relay.call_opaque"(%x) <{operator = "nn.fancy", tuples = array<i64: 0, 2>}> : (tensor<4xf32>) -> tensor<4xf32>
