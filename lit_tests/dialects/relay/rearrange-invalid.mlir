// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @axes(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{duplicate axes entry 1}}
  %y = relay.transpose %x {axes = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  func.return
}

// -----

func.func @concatenate(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{dim 1 of operand 1 must be 3, as in operands before it, but is 4}}
  %y = relay.concatenate %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @nothing() {
  // expected-error@+1 {{relay.concatenate expects at least 1 operand, but got 0}}
  %y = relay.concatenate : () -> tensor<4x3xf32>
  func.return
}

// -----

func.func @sections(%x: tensor<7xf32>) {
  // expected-error@+1 {{sections must divide the dim: 2 does not divide 7}}
  %y, %z = relay.split %x {indices_or_sections = 2} : (tensor<7xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  func.return
}

// -----

func.func @results(%x: tensor<6xf32>) {
  // expected-error@+1 {{relay.split has 3 results, but 2 are declared}}
  %y, %z = relay.split %x {indices_or_sections = 3} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return
}

// -----

func.func @sections_or_points(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected an i64 integer or an array of them, but got "2"}}
  %y = relay.split %x {indices_or_sections = "2"} : (tensor<6xf32>) -> tensor<6xf32>
  func.return
}

// -----

func.func @reflect(%x: tensor<3xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{pad_width at axis 0 must be below 3 to reflect a dim of 3, but is 3}}
  %y = relay.nn.pad %x, %v {pad_width = array<i64: 0, 3>, pad_mode = "reflect"} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  func.return
}

// -----

func.func @stride(%x: tensor<5xf32>) {
  // expected-error@+1 {{strides must not be 0}}
  %y = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 1>, strides = array<i64: 0>} : (tensor<5xf32>) -> tensor<1xf32>
  func.return
}

// -----

func.func @indices(%x: tensor<5xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{indices must have integer elements, but has f32}}
  %y = relay.take %x, %i {axis = 0} : (tensor<5xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}
