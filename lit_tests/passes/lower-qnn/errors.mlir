// RUN: xrelay-opt --split-input-file --verify-diagnostics -p lower-qnn %s

func.func @unknown_scale(%x: tensor<4xi32>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  // expected-error@+1 {{qnn.requantize needs scales that are constants}}
  %y = qnn.requantize %x, %s, %z, %s, %z : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// -----

func.func @many_output_scales(%x: tensor<2xi32>, %z: tensor<i32>) -> tensor<2xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %t = relay.constant dense<[0.5, 1.0]> : tensor<2xf32>
  // expected-error@+1 {{qnn.requantize needs one scale of the result}}
  %y = qnn.requantize %x, %s, %z, %t, %z : (tensor<2xi32>, tensor<f32>, tensor<i32>, tensor<2xf32>, tensor<i32>) -> tensor<2xi8>
  func.return %y : tensor<2xi8>
}
