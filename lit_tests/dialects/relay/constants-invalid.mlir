// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// A constant is a dense tensor of the type declared; a param has a static shape.

// expected-error@+1 {{expected a dense constant, but got 3 : i64}}
%a = relay.constant 3

// -----

// expected-error@+1 {{expected a #relay.device, but got "cpu"}}
%a = relay.constant dense<1.0> : tensor<f32> on "cpu"

// -----

// expected-error@+1 {{the constant is tensor<2xf32>, but is declared as tensor<3xf32>}}
%a = "relay.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>

// -----

// expected-error@+1 {{param "w" must have a static shape, but is tensor<?x4xf32>}}
%a = relay.param "w" : tensor<?x4xf32>

// -----

// expected-error@+1 {{param "w" must have a static shape, but is !relay.incomplete}}
%a = relay.param "w" : !relay.incomplete
