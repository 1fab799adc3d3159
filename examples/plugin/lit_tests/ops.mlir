// RUN: xrelay-opt %s | xrelay-opt | filecheck %s
// RUN: xrelay-opt --print-op-generic %s | xrelay-opt | filecheck %s

// CHECK-LABEL: @operators
// CHECK:         %{{.*}} = demo.scaled_tanh %{{.*}} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %{{.*}} = demo.scaled_tanh %{{.*}} {scale = 5.000000e-01 : f64} : (tensor<2x3x4xf32>)
// CHECK-NEXT:    %{{.*}} = demo.as_rows %{{.*}} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    %{{.*}}, %{{.*}} = demo.min_max %{{.*}} : (tensor<6x4xf32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT:    %{{.*}}, %{{.*}} = demo.min_max %{{.*}} {axes = array<i64: 0>} : (tensor<6x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:    %{{.*}} = demo.swish %{{.*}} : (tensor<6x4xf32>) -> tensor<6x4xf32>
func.func @operators(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %a = demo.scaled_tanh %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %b = demo.scaled_tanh %a {scale = 0.5} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %c = demo.as_rows %b : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %d, %e = demo.min_max %c : (tensor<6x4xf32>) -> (tensor<f32>, tensor<f32>)
  %f, %g = demo.min_max %c {axes = array<i64: 0>} : (tensor<6x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %h = demo.swish %c : (tensor<6x4xf32>) -> tensor<6x4xf32>
  func.return %c : tensor<6x4xf32>
}
