// RUN: xrelay-opt --verify-diagnostics --split-input-file -p manifest-alloc %s

// A result that cannot be allocated is an error at its op, with the cure.

func.func @no_device(%x: tensor<4xf32>) {
  // expected-error@+1 {{result 0 of relay.call_lowered has no device: tensor<4xf32>; run plan-devices before manifest-alloc}}
  %y = relay.call_lowered @fused_exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @fused_exp(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{@fused_exp has a result of dynamic shape, but no shape function; run create-shape-functions before manifest-alloc}}
  %y = relay.call_lowered @fused_exp(%x) : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return
}
relay.prim_func @fused_exp(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

func.func @dynamic_view(%x: tensor<?x2xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{@fused_reshape has a result of dynamic shape, but no shape function; run create-shape-functions before manifest-alloc}}
  %y = relay.call_lowered @fused_reshape(%x) {reshape_only} : (tensor<?x2xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return
}
relay.prim_func @fused_reshape(%a: tensor<?x2xf32>) -> tensor<?xf32> {
  %0 = relay.reshape %a {newshape = array<i64: -1>} : (tensor<?x2xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

func.func @elements_without_size() {
  // expected-error@+1 {{result 0 of relay.call_lowered: element type complex<f32> has no defined size}}
  %y = relay.call_lowered @k() : () -> tensor<4xcomplex<f32>, #relay.device<cpu:0>>
  func.return
}
relay.prim_func @k() -> tensor<4xcomplex<f32>> {
  %0 = "test.op"() : () -> tensor<4xcomplex<f32>>
  relay.yield %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @size_of_more_than_63_bits() {
  // expected-error@+1 {{tensor<2x3037000500x3037000500xi8, #relay.device<cpu:0>>, needs 18446744074000500000 bytes, but at most 9223372036854775807 fit}}
  %y = relay.call_lowered @k() : () -> tensor<2x3037000500x3037000500xi8, #relay.device<cpu:0>>
  func.return
}
relay.prim_func @k() -> tensor<2x3037000500x3037000500xi8> {
  %0 = "test.op"() : () -> tensor<2x3037000500x3037000500xi8>
  relay.yield %0 : tensor<2x3037000500x3037000500xi8>
}

// -----

func.func @view_between_devices(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{a view is where its data is}}
  %y = relay.call_lowered @fused_reshape(%x) {reshape_only} : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<2x2xf32, #relay.device<cuda:0>>
  func.return
}
relay.prim_func @fused_reshape(%a: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = relay.reshape %a {newshape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  relay.yield %0 : tensor<2x2xf32>
}
