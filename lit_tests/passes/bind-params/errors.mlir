// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'bind-params{names=w}' %s

// A weight has a static shape.
//
// expected-error@+1 {{@main: a weight must be a tensor of static shape, but 'w' is tensor<?xf32>}}
func.func @main(%w: tensor<?xf32>) {
  func.return
}

// -----

// The function has no such parameter.
//
// expected-error@+1 {{@main: unknown input 'w'; the inputs are: w1, x}}
func.func @main(%w1: tensor<f32>, %x: tensor<f32>) {
  func.return
}

// -----

// Another function of the module passes the argument.
//
// expected-error@+1 {{the inputs of @main cannot be bound: @f in the module uses it}}
func.func @main(%w: tensor<f32>) {
  func.return
}
func.func @f(%w: tensor<f32>) {
  func.call @main(%w) : (tensor<f32>) -> ()
  func.return
}
