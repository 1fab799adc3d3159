// RUN: xrelay-opt --verify-diagnostics --split-input-file -p infer-types %s

// The dims of a parameter have an entry for each dim of its type: a name where it is dynamic.

func.func @named(%x: tensor<?x768xf32> {relay.dims = ["n", 768]}, %y: tensor<?x?xi64> {relay.dims = ["n", ""]}) {
  func.return
}

// -----

// Named dims may have bounds, both included, or a lower one alone.

func.func @bounded(%x: tensor<?x?xf32> {relay.dims = ["n", "m"]}) attributes {relay.dim_bounds = {n = [1, 2048], m = [0]}} {
  func.return
}

// -----

// expected-error@+1 {{relay.dim_bounds of @unknown has bounds of 'k', but the named dims are n, m}}
func.func @unknown(%x: tensor<?x?xf32> {relay.dims = ["n", "m"]}) attributes {relay.dim_bounds = {k = [1, 2048]}} {
  func.return
}

// -----

// expected-error@+1 {{relay.dim_bounds of @reversed: the bounds of 'n' must be at least 0 and in order, but are [8 : i64, 4 : i64]}}
func.func @reversed(%x: tensor<?xf32> {relay.dims = ["n"]}) attributes {relay.dim_bounds = {n = [8, 4]}} {
  func.return
}

// -----

// expected-error@+1 {{relay.dim_bounds of @three: the bounds of 'n' must be one or two integers, but are [1 : i64, 2 : i64, 3 : i64]}}
func.func @three(%x: tensor<?xf32> {relay.dims = ["n"]}) attributes {relay.dim_bounds = {n = [1, 2, 3]}} {
  func.return
}

// -----

// expected-error@+1 {{relay.dim_bounds of @no_dictionary must be a dictionary, but is 3 : i64}}
func.func @no_dictionary(%x: tensor<?xf32> {relay.dims = ["n"]}) attributes {relay.dim_bounds = 3} {
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
