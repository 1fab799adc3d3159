// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'bind-dims{dims="n=2" shapes="x=2x3"}' %s

// expected-error@below {{@main: unknown input 'x'; the inputs are: y}}
func.func @main(%y: tensor<?xf32> {relay.dims = ["n"]}) { func.return }

// -----

// expected-error@below {{@main: input 'x' has 1 dims, [n], but its shape is given as [2, 3]}}
func.func @main(%x: tensor<?xf32> {relay.dims = ["n"]}) { func.return }

// -----

// expected-error@below {{@main: 'n' is not an open dim; the open dims are: m}}
func.func @main(%x: tensor<?x3xf32> {relay.dims = ["m", 3]}) { func.return }

// -----

// expected-error@below {{@main: dim 1 of input 'x' is 4, and cannot be 3}}
func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}) { func.return }

// -----

// expected-error@below {{dim 1 of input 'x' is n, which is given as 2, but the shape of 'x' as [2, 3]}}
func.func @main(%x: tensor<?x?xf32> {relay.dims = ["n", "n"]}) { func.return }

// -----

// expected-error@below {{@main: dim 1 of input 'x' is k, and cannot be 3: k is 2}}
func.func @main(%x: tensor<?x?xf32> {relay.dims = ["k", "k"]}, %y: tensor<?xf32> {relay.dims = ["n"]}) { func.return }

// -----

// expected-error@below {{@main: dim 0 of input 'x' is n, and cannot be 2: it must be from 3 to 8}}
func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]}) attributes {relay.dim_bounds = {n = [3, 8]}} { func.return }

// -----

// expected-error@below {{the inputs of @main cannot be bound: @f in the module uses it}}
func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]}) { func.return }
func.func @f(%x: tensor<?x3xf32>) {
  func.call @main(%x) : (tensor<?x3xf32>) -> ()
  func.return
}

// -----

// expected-error@below {{cannot bind the inputs of unknown function @main; the functions are: @f, @g}}
module {
  func.func @f() { func.return }
  func.func @g() { func.return }
}
