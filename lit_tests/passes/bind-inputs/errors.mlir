// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'bind-inputs{values="n=300"}' %s

// A number must be one of the element type.
//
// expected-error@+1 {{@main: the value of input 'n': it must be uint8, which cannot represent 300}}
func.func @main(%n: tensor<ui8>) {
  func.return
}

// -----

// A number has no shape of its own.
//
// expected-error@+1 {{@main: the value of input 'n': a number needs a static shape, but it has [?]}}
func.func @main(%n: tensor<?xi64>) {
  func.return
}

// -----

// The function has no such parameter.
//
// expected-error@+1 {{@main: unknown input 'n'; the inputs are: num, x}}
func.func @main(%num: tensor<i64>, %x: tensor<i64>) {
  func.return
}

// -----

// A value is text in the program.
//
// expected-error@+1 {{the value of input 'n': it has 1000000 elements; supported: up to 65536}}
func.func @main(%n: tensor<1000x1000xi64>) {
  func.return
}

// -----

// Another function of the module passes the argument.
//
// expected-error@+1 {{the inputs of @main cannot be bound: @f in the module uses it}}
func.func @main(%n: tensor<i64>) {
  func.return
}
func.func @f(%n: tensor<i64>) {
  func.call @main(%n) : (tensor<i64>) -> ()
  func.return
}
