// RUN: xrelay-opt -t relay-text --verify-diagnostics --split-input-file %s

// What Relay text cannot say is an error at the op.

func.func @copied(%x: tensor<4xf32>, %out: tensor<4xf32>) {
  // expected-error@+1 {{Relay text has no form for memory.copy: device_copy allocates its result there; print the module before manifest-alloc}}
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// expected-error@+1 {{Relay text has no form for the kernel @uncalled, which is never called: it would be read as a function}}
relay.prim_func @uncalled(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{Relay text reserves the type name Storage for memory}}
relay.type_data @Storage [@Box(tensor<i32>)]
func.func @both(%s: !memory.storage) -> !memory.storage {
  func.return %s : !memory.storage
}

// -----

func.func @scopes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a, %b = relay.call_lowered @kernel(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %a : tensor<4xf32>
}
// expected-error@+1 {{Relay text has no form for results of a kernel in different memory scopes}}
relay.prim_func @kernel(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {scopes = ["", "", "texture"]} {
  relay.yield %a, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @attributed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.call_lowered @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// expected-error@+1 {{Relay text has no form for the attribute note of a kernel}}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> attributes {note} {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @fused(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{Relay text has no form for relay.primitive: print the module before its operators are fused, or after outline-primitives}}
  %r = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @foreign() {
  // expected-error@+1 {{Relay text has no form for test.op: Relay has no such operator}}
  "test.op"() : () -> ()
  func.return
}

// -----

// expected-error@+1 {{Relay text has no form for builtin.module: Relay has no such operator}}
builtin.module {
}
func.func @f() {
  func.return
}

// -----

// expected-error@+1 {{Relay text has no form for @declared, a function without a body}}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @element_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{Relay text has no form for elements of type i7}}
  %c = relay.constant dense<3> : tensor<4xi7>
  func.return
}

// -----

// expected-error@+1 {{Relay text has no form for the type i32}}
func.func @type(%x: i32) {
  func.return
}

// -----

func.func @device(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{Relay text has no form for the device type npu, which TVM does not have}}
  %y = relay.on_device %x, #relay.device<npu:0> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{Relay text cannot have a function called @a b}}
func.func @"a b"() {
  func.return
}

// -----

// expected-error@+1 {{Relay text cannot have a data type called float32}}
relay.type_data @float32 []

// -----

// expected-error@+1 {{Relay text cannot have a constructor called exp}}
relay.type_data @T [@exp()]

// -----

relay.type_data @T [@A()]
// expected-error@+1 {{Relay text cannot have a constructor A of both T and U}}
relay.type_data @U [@A()]

// -----

// expected-error@+1 {{Relay text has no form for the results of @two on cpu:0 and cuda:0: they form one tuple, which is on one device}}
func.func @two(%x: tensor<4xf32, #relay.device<cpu:0>>, %y: tensor<4xf32, #relay.device<cuda:0>>) -> (tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cuda:0>>) {
  func.return %x, %y : tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cuda:0>>
}

// -----

func.func @called() -> tensor<4xf32> {
  // expected-error@+1 {{Relay text has no form for relay.param "w" in a function that is called: it would add a parameter to @called}}
  %w = relay.param "w" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func @main() -> tensor<4xf32> {
  %w = func.call @called() : () -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}

// -----

func.func @rows(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{Relay text has no form for vm.slice_tensor: it belongs to a level that does not exist in Relay}}
  %y = vm.slice_tensor %x[2] : (tensor<8x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{Relay text has no form for branches whose results have different dims}}
  %z = relay.if %c : tensor<i1> -> (tensor<?xf32>) {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %y : tensor<2xf32>
  }
  func.return %z : tensor<?xf32>
}
