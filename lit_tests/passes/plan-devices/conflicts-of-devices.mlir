// RUN: xrelay-opt --verify-diagnostics --split-input-file -p plan-devices %s

// The value that a closure yields is where its result is annotated to be.
//
// expected-note@+1 {{cpu:0 is required here: parameter 0 of @conflict_of_closure_and_result is annotated}}
func.func @conflict_of_closure_and_result(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  // expected-error@+3 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+2 {{the closure gives what its region yields}}
  // expected-note@+1 {{cuda:0 is required here: the closure's result is annotated}}
  %f = relay.fn () -> tensor<4xf32> attributes {result_device = #relay.device<cuda:0>} {
    relay.yield %x : tensor<4xf32>
  }
  %call = relay.call %f() : () -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// Devices contradict each other by their number alone.
//
// expected-error@+3 {{one value would have to be on ?:0 and on cpu:1}}
// expected-note@+2 {{?:0 is required here: parameter 0 of @conflict_of_device_numbers is annotated}}
// expected-note@+1 {{cpu:1 is required here: parameter 1 of @conflict_of_device_numbers is annotated}}
func.func @conflict_of_device_numbers(%x: tensor<4xf32> {relay.device = #relay.device<?:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cpu:1>}) -> tensor<4xf32> {
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %add = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Devices contradict each other by their type alone.
//
// expected-error@+3 {{one value would have to be on cpu and on cuda}}
// expected-note@+2 {{cpu is required here: parameter 0 of @conflict_of_device_types is annotated}}
// expected-note@+1 {{cuda is required here: parameter 1 of @conflict_of_device_types is annotated}}
func.func @conflict_of_device_types(%x: tensor<4xf32> {relay.device = #relay.device<cpu>}, %y: tensor<4xf32> {relay.device = #relay.device<cuda>}) -> tensor<4xf32> {
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %add = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Two hints on one value contradict each other; the error names both.
func.func @conflict_of_hints(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{cpu:0 is required here: the hint says where its operand is}}
  %hint = relay.on_device %y, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: the hint says where its operand is}}
  %hint_1 = relay.on_device %y, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tanh %hint_1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}

// -----

// A parameter that is returned must be where the result is.
//
// expected-error@+3 {{one value would have to be on cuda:0 and on cpu:0}}
// expected-note@+2 {{cuda:0 is required here: parameter 0 of @conflict_of_parameter_and_result is annotated}}
// expected-note@+1 {{cpu:0 is required here: result 0 of @conflict_of_parameter_and_result is declared there}}
func.func @conflict_of_parameter_and_result(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> (tensor<4xf32> {relay.device = #relay.device<cpu:0>}) {
  // expected-note@+1 {{result 0 of @conflict_of_parameter_and_result is returned here}}
  func.return %x : tensor<4xf32>
}

// -----

// Devices contradict each other by their memory scope, which the error then shows.
//
// expected-error@+3 {{one value would have to be on cpu:0 (scope "texture") and on cpu:0 (scope "global")}}
// expected-note@+2 {{cpu:0 (scope "texture") is required here: parameter 0 of @conflict_of_scopes is annotated}}
// expected-note@+1 {{cpu:0 (scope "global") is required here: parameter 1 of @conflict_of_scopes is annotated}}
func.func @conflict_of_scopes(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0, scope = "texture">}, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0, scope = "global">}) -> tensor<4xf32> {
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %add = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Devices contradict each other by their target, which the error then shows.
//
// expected-error@+3 {{one value would have to be on cpu:0 (target "llvm") and on cpu:0 (target "c")}}
// expected-note@+2 {{cpu:0 (target "llvm") is required here: parameter 0 of @conflict_of_targets is annotated}}
// expected-note@+1 {{cpu:0 (target "c") is required here: parameter 1 of @conflict_of_targets is annotated}}
func.func @conflict_of_targets(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0, target = "llvm">}, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0, target = "c">}) -> tensor<4xf32> {
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %add = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
