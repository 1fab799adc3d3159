// RUN: xrelay-opt --verify-diagnostics -p 'plan-devices{explain default=cuda:0}' %s | filecheck %s

// Each value is reported with its device and the nearest reason for it.
//
// CHECK-LABEL: @explained
// expected-remark@+2 {{on cpu:0: operands and results of relay.negative share a device}}
// expected-remark@+1 {{on cuda:0, by default}}
func.func @explained(%x: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@+1 {{on cpu:0: the hint says where its operand is}}
  %y = relay.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+2 {{cpu:0 is required here: the hint says where its operand is}}
  // expected-remark@+1 {{on cuda:0, by default}}
  %h = relay.on_device %y, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %h : tensor<4xf32>
}
