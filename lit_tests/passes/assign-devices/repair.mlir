// RUN: xrelay-opt --verify-diagnostics -p 'solve-devices{repair},assign-devices' %s | filecheck %s

// Repair hints the operand that is to be copied.
//
// CHECK-LABEL: func.func @operand
// CHECK-NEXT:    %[[H:.*]] = relay.on_device %b, #cuda0 {{.*}} : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda0>
// CHECK-NEXT:    relay.add %a, %[[H]]
func.func @operand(%a: tensor<9x4xf32> {relay.device = #relay.device<cuda:0>}, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<9x4xf32> { // expected-note {{the value is made here}}
  // expected-remark@+1 {{an operand of relay.add is copied from cpu:0 to cuda:0 (16 bytes)}}
  %y = relay.add %a, %b : (tensor<9x4xf32>, tensor<4xf32>) -> tensor<9x4xf32>
  func.return %y : tensor<9x4xf32>
}
