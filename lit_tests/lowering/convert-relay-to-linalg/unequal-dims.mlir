// RUN: xrelay-opt --split-input-file --remarks --verify-diagnostics -p convert-relay-to-linalg %s

// Two dims that have no name in common may differ: one may be 1.
relay.prim_func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-remark@below {{@add: dim 0 of %a and dim 0 of %b are not shown to be equal, so one may be broadcast}}
  %c = relay.add %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  relay.yield %c : tensor<?x4xf32>
}
func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]}, %y: tensor<?x4xf32> {relay.dims = ["m", 4 : i64]}, %s: !memory.storage) {
  %n = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %t = memory.alloc_tensor %s[0] shape %n : tensor<2xi64> -> tensor<?x4xf32>
  %z = vm.invoke_tvm_op @add ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf32>) outs(%t : tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return
}

// -----

// Dims of one name are equal, and nothing is said.
relay.prim_func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = relay.add %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  relay.yield %c : tensor<?x4xf32>
}
func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]}, %y: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]}, %s: !memory.storage) {
  %n = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %t = memory.alloc_tensor %s[0] shape %n : tensor<2xi64> -> tensor<?x4xf32>
  %z = vm.invoke_tvm_op @add ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf32>) outs(%t : tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return
}
