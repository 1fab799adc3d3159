// RUN: xrelay-opt -p demo-fold-scales %s | filecheck %s

// The scalar and the scale are multiplied.
//
// CHECK-LABEL: @constant_on_the_right
// CHECK-SAME:    %[[X:[a-z]+]]: tensor<4xf32>
// CHECK-NEXT:    %[[T:.*]] = demo.scaled_tanh %[[X]] {scale = 1.500000e+00 : f64} : (tensor<4xf32>)
// CHECK-NEXT:    func.return %[[T]]
func.func @constant_on_the_right(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<3.0> : tensor<f32>
  %p = relay.multiply %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %t = demo.scaled_tanh %p {scale = 0.5} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %t : tensor<4xf32>
}

// Successive scalars on either side are multiplied; a scale of 1 is not printed.
//
// CHECK-LABEL: @two_factors
// CHECK-SAME:    %[[X:[a-z]+]]: tensor<4xf32>
// CHECK-NEXT:    %[[T:.*]] = demo.scaled_tanh %[[X]] : (tensor<4xf32>)
// CHECK-NEXT:    func.return %[[T]]
func.func @two_factors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<4.0> : tensor<f32>
  %d = relay.constant dense<0.5> : tensor<f32>
  %p = relay.multiply %c, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %q = relay.multiply %d, %p : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %t = demo.scaled_tanh %q {scale = 0.5} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %t : tensor<4xf32>
}

// A product with other uses is kept.
//
// CHECK-LABEL: @used_twice
// CHECK-SAME:    %[[X:[a-z]+]]: tensor<4xf32>
// CHECK:         %[[P:.*]] = relay.multiply
// CHECK-NEXT:    %[[T:.*]] = demo.scaled_tanh %[[X]] {scale = 3.000000e+00 : f64}
// CHECK-NEXT:    relay.add %[[P]], %[[T]]
func.func @used_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<3.0> : tensor<f32>
  %p = relay.multiply %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %t = demo.scaled_tanh %p : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add %p, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// A tensor of factors is not folded.
//
// CHECK-LABEL: @not_a_scalar
// CHECK:         relay.multiply
// CHECK-NEXT:    demo.scaled_tanh %{{.*}} : (tensor<2xf32>)
func.func @not_a_scalar(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = relay.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %p = relay.multiply %x, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %t = demo.scaled_tanh %p : (tensor<2xf32>) -> tensor<2xf32>
  func.return %t : tensor<2xf32>
}
