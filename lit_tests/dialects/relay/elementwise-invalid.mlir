// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// A float operator takes floats.
func.func @ints(%x: tensor<2xi32>) {
  // expected-error@+1 {{the operand of relay.exp must have float elements, but has i32}}
  %y = relay.exp %x : (tensor<2xi32>) -> tensor<2xi32>
  func.return
}

// -----

// The result is like the operand.
func.func @another_shape(%x: tensor<2xf32>) {
  // expected-error@+1 {{the result of relay.nn.relu is tensor<2xf32>, but is declared as tensor<3xf32>}}
  %y = relay.nn.relu %x : (tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @another_element_type(%x: tensor<2xf32>) {
  // expected-error@+1 {{the result of relay.cast is tensor<2xi64>, but is declared as tensor<2xi32>}}
  %y = relay.cast %x {dtype = i64} : (tensor<2xf32>) -> tensor<2xi32>
  func.return
}

// -----

// What elements are made of has a size.
func.func @no_dtype(%x: tensor<2xf32>) {
  // expected-error@+1 {{dtype must be an integer, index or float type, but is complex<f32>}}
  %y = relay.cast %x {dtype = complex<f32>} : (tensor<2xf32>) -> tensor<2xcomplex<f32>>
  func.return
}

// -----

// An attribute without a default must be given.
func.func @absent(%x: tensor<2xf32>) {
  // expected-error@+1 {{property 'a_max' expected in operation 'relay.clip'}}
  %y = relay.clip %x {a_min = 0.0} : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// An attribute is of its kind.
func.func @kind_of_attribute(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected an f64 float, but got 1 : i64}}
  %y = relay.nn.leaky_relu %x {alpha = 1} : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @word(%x: tensor<2xf32>) {
  // expected-error@+1 {{approximate must be "none" or "tanh", but is "erf"}}
  %y = relay.nn.gelu %x {approximate = "erf"} : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// Operators are on ranked tensors.
func.func @no_tensor(%x: i32) {
  // expected-error@+1 {{expected a ranked tensor, but got i32}}
  %y = relay.abs %x : (i32) -> tensor<2xf32>
  func.return
}
