// RUN: xrelay-opt --verify-diagnostics -p 'explain-devices{default=cuda:0}' %s | filecheck %s

// The device of each value is reported with the nearest reason; the program stays as it is.
//
// CHECK-LABEL: func.func @explained(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %[[H:.*]] = relay.on_device %x, #cpu0 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %[[H]]
// expected-remark@+1 {{on cpu:0: the hint says where its operand is}}
func.func @explained(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@+1 {{on cuda:0, by default}}
  %h = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %h : tensor<4xf32>
}
