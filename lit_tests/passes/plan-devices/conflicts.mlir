// RUN: xrelay-opt --verify-diagnostics --split-input-file -p plan-devices %s

// Two devices for one value are an error, with notes for the constraints and the ops between.

func.func @two_hints(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{cpu:0 is required here: the hint says where its result is}}
  %a = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: the hint says where its result is}}
  %b = relay.on_device %y, #relay.device<cuda:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %c = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

// expected-error@+3 {{one value would have to be on cpu:0 and on cpu:1}}
// expected-note@+2 {{cpu:0 is required here: parameter 0 of @signature is annotated}}
// expected-note@+1 {{cpu:1 is required here: result 0 of @signature is declared there}}
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

// -----

// Devices in types are constraints like all others: of a parameter, of a value.

// expected-note@+1 {{cpu:0 is required here: parameter 0 of @parameter has this type}}
func.func @parameter(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+3 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+2 {{operands and results of relay.exp share a device}}
  // expected-note@+1 {{cuda:0 is required here: the value already has this type}}
  %y = relay.exp %x : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

// expected-error@+3 {{one value would have to be on cpu:0 and on cuda:0}}
// expected-note@+2 {{cpu:0 is required here: parameter 0 of @annotation is annotated}}
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @annotation has this type}}
func.func @annotation(%x: tensor<4xf32, #relay.device<cuda:0>> {relay.device = #relay.device<cpu:0>}) {
  func.return
}

// -----

// The destination of a copy holds what uses it.

// expected-note@+1 {{cpu:0 is required here: parameter 1 of @copy is annotated}}
func.func @copy(%x: tensor<4xf32>, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32, #relay.device<cpu:0>>
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: the value already has this type}}
  %c = relay.device_copy %y : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %z = relay.add %c, %b : (tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}
