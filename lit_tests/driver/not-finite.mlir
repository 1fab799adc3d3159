// RUN: xrelay-opt %s | filecheck %s
// RUN: xrelay-opt %s | xrelay-opt | filecheck %s
// RUN: xrelay-opt --print-op-generic %s | xrelay-opt | filecheck %s

// Infinities and NaNs are what they were when they are read again.
//
// CHECK-LABEL: @constants
// CHECK-NEXT:    dense<"0x000080FF"> : tensor<f32>
// CHECK-NEXT:    dense<"0x0000C07F0000803F"> : tensor<2xf32>
// CHECK-NEXT:    dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
func.func @constants() {
  %a = relay.constant dense<"0x000080FF"> : tensor<f32>
  %b = relay.constant dense<"0x0000C07F0000803F"> : tensor<2xf32>
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  func.return
}
