// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Dims are equal, or one of them is 1.
func.func @dims(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{dims 2 and 3 at axis -1 do not broadcast together}}
  %y = relay.add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// There are no implicit conversions.
func.func @element_types(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error@+1 {{operands of relay.multiply must have one element type, but operand 0 has f32 and operand 1 has i32}}
  %y = relay.multiply %a, %b : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return
}

// -----

// Comparisons tell i1.
func.func @comparison(%a: tensor<2xf32>) {
  // expected-error@+1 {{the result of relay.less is tensor<2xi1>, but is declared as tensor<2xf32>}}
  %y = relay.less %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @condition(%c: tensor<2xi8>, %x: tensor<2xf32>) {
  // expected-error@+1 {{condition must have i1 elements, but has i8}}
  %y = relay.where %c, %x, %x : (tensor<2xi8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @axis(%x: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{axis must be in [-2, 2), but is 5}}
  %y = relay.nn.bias_add %x, %b {axis = 5} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @bias(%x: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{operand 1 of relay.nn.bias_add has 4 elements, but axis 1 of operand 0 has 3}}
  %y = relay.nn.bias_add %x, %b : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @number_of_operands(%x: tensor<2xf32>) {
  // expected-error@+1 {{Expected 2 operands, but got 1}}
  %y = "relay.add"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}
