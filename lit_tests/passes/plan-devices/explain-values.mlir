// RUN: xrelay-opt --verify-diagnostics -p 'plan-devices{default=cuda:0 explain}' %s

// `explain` reports the device of every value and its reason: the nearest constraint, and the ops between.
//
// expected-remark@+2 {{on cpu:0: argument 0 is where the callee's parameter 0 is}}
// expected-remark@+1 {{on cuda:0, by default}}
func.func @explain_values(%x: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@+2 {{on cpu:0: the call's result is where the callee's is}}
  // expected-remark@+1 {{on cpu:0: operands and results of relay.exp share a device}}
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-remark@+1 {{on cpu:0: the closure gives what its region yields}}
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  // expected-remark@+1 {{on cpu:0: the hint says where its operand is}}
  %y = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+5 {{cpu:0 is required here: the hint says where its operand is}}
  // expected-note@+4 {{cpu:0 is required here: the hint says where its operand is}}
  // expected-remark@+3 {{on cuda:0, by default}}
  // expected-note@+2 {{cpu:0 is required here: the hint says where its operand is}}
  // expected-note@+1 {{cpu:0 is required here: the hint says where its operand is}}
  %hint = relay.on_device %y, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark@+1 {{on cuda:0, by default}}
  %z = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
