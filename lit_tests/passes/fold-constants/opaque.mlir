// RUN: xrelay-opt -p fold-constants %s | filecheck %s

// An operator without a kernel is left alone, even on constants.
//
// CHECK-LABEL: @opaque
// CHECK:         %c = relay.constant
// CHECK-NEXT:    %y = relay.call_opaque "nn.fancy"(%c) : (tensor<2xf32>) -> tensor<2xf32>
func.func @opaque() -> tensor<2xf32> {
  %c = relay.constant dense<1.0> : tensor<2xf32>
  %y = relay.call_opaque "nn.fancy"(%c) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
