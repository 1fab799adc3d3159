// RUN: xrelay-opt --split-input-file --verify-diagnostics %s

func.func @scale(%x: tensor<4xf32>, %s: tensor<2xf32>, %z: tensor<i32>) {
  // expected-error@+1 {{the scale must have as many elements as axis -1, 4, but has 2}}
  %y = qnn.quantize %x, %s, %z : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// -----

func.func @integers(%x: tensor<4xi8>, %s: tensor<f32>, %z: tensor<i32>) {
  // expected-error@+1 {{data of qnn.quantize must have float elements, but has i8}}
  %y = qnn.quantize %x, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// -----

func.func @rounding(%x: tensor<4xi32>, %s: tensor<f32>, %z: tensor<i32>) {
  // expected-error@+1 {{rounding must be "UPWARD" or "TONEAREST", but is "DOWN"}}
  %y = qnn.requantize %x, %s, %z, %s, %z {rounding = "DOWN"} : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// -----

func.func @mixed(%x: tensor<4xi8>, %y: tensor<4xui8>, %s: tensor<f32>, %z: tensor<i32>) {
  // expected-error@+1 {{rhs of qnn.add must have elements i8, but has ui8}}
  %r = qnn.add %x, %y, %s, %z, %s, %z, %s, %z : (tensor<4xi8>, tensor<4xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return
}

// -----

func.func @operands(%x: tensor<4xi8>, %s: tensor<f32>, %z: tensor<i32>) {
  // expected-error@+1 {{qnn.concatenate must have n tensors, n scales, n zero points, and the scale and zero point of the result, but has 4 operands}}
  %r = qnn.concatenate %x, %x, %s, %z : (tensor<4xi8>, tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<8xi8>
  func.return
}

// -----

func.func @channels(%x: tensor<1x3x4x4xui8>, %w: tensor<2x4x3x3xi8>, %s: tensor<f32>, %z: tensor<i32>) {
  // expected-error@+1 {{weight's input channels must be 3, but is 4}}
  %r = qnn.conv2d %x, %w, %z, %z, %s, %s : (tensor<1x3x4x4xui8>, tensor<2x4x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x2x2x2xi32>
  func.return
}
