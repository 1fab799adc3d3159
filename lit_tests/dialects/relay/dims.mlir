// RUN: xrelay-opt --verify-diagnostics --split-input-file -p infer-types %s

// The dims of a parameter have an entry for each dim of its type: a name where it is dynamic.

func.func @named(%x: tensor<?x768xf32> {relay.dims = ["n", 768]}, %y: tensor<?x?xi64> {relay.dims = ["n", ""]}) {
  func.return
}

// -----

// expected-error@+1 {{dim 1 of parameter 0 of @wrong_size is 768, and relay.dims must say so, but has 512 : i64}}
func.func @wrong_size(%x: tensor<?x768xf32> {relay.dims = ["n", 512]}) {
  func.return
}

// -----

// expected-error@+1 {{dim 0 of parameter 1 of @without_name is dynamic, and relay.dims must name it, but has 4 : i64}}
func.func @without_name(%y: tensor<4xf32>, %x: tensor<?xf32> {relay.dims = [4]}) {
  func.return
}

// -----

// expected-error@+1 {{relay.dims of parameter 0 of @wrong_rank needs an entry for each of 2 dims, but has 1}}
func.func @wrong_rank(%x: tensor<?x768xf32> {relay.dims = ["n"]}) {
  func.return
}

// -----

// expected-error@+1 {{relay.dims of parameter 0 of @no_array must be an array, but is "n"}}
func.func @no_array(%x: tensor<?xf32> {relay.dims = "n"}) {
  func.return
}

// -----

// expected-error@+1 {{relay.dims describes a tensor, but parameter 0 of @tuple is tuple<tensor<?xf32>>}}
func.func @tuple(%x: tuple<tensor<?xf32>> {relay.dims = ["n"]}) {
  func.return
}
