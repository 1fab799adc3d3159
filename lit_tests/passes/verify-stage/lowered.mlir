// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'verify-stage{stage=lowered}' %s

// At `lowered` primitives and closures are functions; calls of them may still return results.

func.func @primitive(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{relay.primitive is left at stage lowered: outline-primitives should have made it a function}}
  %z = relay.primitive(%a = %x : tensor<4xf32, #relay.device<cpu:0>>) -> (tensor<4xf32, #relay.device<cpu:0>>) {
    relay.yield %a : tensor<4xf32, #relay.device<cpu:0>>
  }
  func.return
}

// -----

func.func @fine(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %z = relay.call_lowered @f(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

func.func @closure() {
  // expected-error@+1 {{relay.fn is left at stage lowered: lambda-lift should have made it a function}}
  %f = relay.fn (%a: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
    relay.yield %a : tensor<4xf32, #relay.device<cpu:0>>
  }
  func.return
}

// -----

// A kernel with a result of dynamic shape has a shape function, whose types carry no device.

// expected-error@+1 {{relay.prim_func is left at stage lowered: it has a result of dynamic shape, tensor<?xf32>: create-shape-functions should have given it a shape function}}
relay.prim_func @without(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

relay.prim_func @with(%a: tensor<?xf32>) -> tensor<?xf32> attributes {shape_func = @s, shape_inputs = array<i64: 2>} {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.shape_func @s(%s: tensor<1xi64>) -> tensor<1xi64> {
  %i0 = arith.constant 0 : index
  %n = tensor.extract %s[%i0] : tensor<1xi64>
  %t = tensor.from_elements %n : tensor<1xi64>
  relay.yield %t : tensor<1xi64>
}
