// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Arguments and results of primitives and kernels agree with their regions, signatures and calls.

func.func @missing_argument(%x: tensor<4xf32>) {
  // expected-error@+1 {{the region has 0 arguments, but there are 1 operands}}
  %r = "relay.primitive"(%x) ({
    %0 = relay.constant dense<1.0> : tensor<f32>
    relay.yield %0 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @argument_of_another_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{argument 0 of the region is tensor<5xf32>, but operand 0 is tensor<4xf32>}}
  %r = "relay.primitive"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    relay.yield %a : tensor<5xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @result_of_another_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{the region of relay.primitive yields tensor<4xf32> as value 0, but tensor<5xf32> is declared}}
  %r = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<5xf32>) {
    relay.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

// expected-note@+1 {{operand defined here}}
func.func @captures(%x: tensor<4xf32>) {
  // expected-note@+1 {{isolated by this op}}
  %r = relay.primitive() -> (tensor<4xf32>) {
    // expected-error@+1 {{is defined outside of 'relay.primitive', which is isolated from above}}
    %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %y : tensor<4xf32>
  }
  func.return
}

// -----

func.func @view_of_nothing() {
  // expected-error@+1 {{reshape_only requires at least one operand and one result, but relay.primitive has 0 and 1}}
  %r = relay.primitive() -> (tensor<f32>) attributes {reshape_only} {
    %0 = relay.constant dense<1.0> : tensor<f32>
    relay.yield %0 : tensor<f32>
  }
  func.return
}

// -----

// expected-error@+1 {{kernel types must not carry a device, but one is tensor<4xf32, #relay.device<cpu:0>>}}
relay.prim_func @f(%a: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  relay.yield %a : tensor<4xf32, #relay.device<cpu:0>>
}

// -----

// expected-error@+1 {{kernel types must be tensors, but one is tuple<tensor<4xf32>>}}
relay.prim_func @f(%a: tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>> {
  relay.yield %a : tuple<tensor<4xf32>>
}

// -----

// expected-error@+1 {{the body of relay.prim_func yields 1 values, but 2 are declared}}
relay.prim_func @f(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  relay.yield %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{the arguments of the body must have the types of the signature, (tensor<4xf32>) -> tensor<5xf32>}}
"relay.prim_func"() <{sym_name = "f", function_type = (tensor<4xf32>) -> tensor<5xf32>}> ({
^bb0(%a: tensor<5xf32>):
  relay.yield %a : tensor<5xf32>
}) : () -> ()

// -----

func.func @nobody(%x: tensor<4xf32>) {
  // expected-error@+1 {{@f is not defined in the module}}
  %r = relay.call_lowered @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @calls_itself(%x: tensor<4xf32>) {
  // expected-error@+1 {{relay.call_lowered calls kernels, but @calls_itself is a func.func}}
  %r = relay.call_lowered @calls_itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @too_many(%x: tensor<4xf32>) {
  // expected-error@+1 {{@f expects 1 arguments, but got 2}}
  %r = relay.call_lowered @f(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @other_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{result 0 of @f must be tensor<4xf32>, but is tensor<4xi32>}}
  %r = relay.call_lowered @f(%x) : (tensor<4xf32>) -> tensor<4xi32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @two_views(%x: tensor<4xf32>) {
  // expected-error@+1 {{reshape_only requires at least one operand and one result, but relay.call_lowered has 1 and 2}}
  %r, %s = relay.call_lowered @f(%x) {reshape_only} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return
}

// -----

// expected-error@+1 {{scopes needs one for each of 2 parameters and results, but has 1}}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {scopes = ["texture"]} {
  relay.yield %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{the kernel must be impure, as relay.call_opaque has effects}}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call_opaque "nn.fancy"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

func.func @unmarked(%x: tensor<4xf32>) {
  // expected-error@+1 {{the call must be impure, as @f is}}
  %r = relay.call_lowered @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {impure} {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @unmarked(%x: tensor<4xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{the call must be impure, as @f is}}
  %r = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {impure} {
  relay.yield %a : tensor<4xf32>
}

// -----

relay.prim_func @reads(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{scratch memory has no contents: it can only be yielded}}
  %0 = relay.scratch : tensor<4xf32>
  %1 = relay.add %a, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %1 : tensor<4xf32>
}
