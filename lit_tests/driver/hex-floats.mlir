// RUN: xrelay-opt --split-input-file --verify-diagnostics %s | filecheck %s

// Floats in hex are their bits, as mlir-opt prints infinities and NaNs.
//
// CHECK-LABEL: @bits
// CHECK-NEXT:    %a = relay.constant dense<"0x000080FF"> : tensor<f32>
// CHECK-NEXT:    %b = relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %c = relay.constant dense<"0x007C003C"> : tensor<2xf16>
// CHECK-NEXT:    %d = relay.constant dense<255> : tensor<i32>
func.func @bits() {
  %a = relay.constant dense<0xFF800000> : tensor<f32>
  %b = relay.constant dense<0x3F800000> : tensor<f32>
  %c = relay.constant dense<[0x7C00, 1.0]> : tensor<2xf16>
  %d = relay.constant dense<0xFF> : tensor<i32>
  func.return
}

// -----

// expected-error @below {{0x1FF800000 has more than the 32 bits of f32}}
%a = relay.constant dense<0x1FF800000> : tensor<f32>
