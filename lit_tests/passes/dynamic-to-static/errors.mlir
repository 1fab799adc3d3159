// RUN: xrelay-opt --verify-diagnostics --split-input-file -p dynamic-to-static %s

// Dims that differ whatever their sizes are an error at the operator, with both.

func.func @never_equal(%x: tensor<?xf32> {relay.dims = ["n"]}, %w: tensor<1xf32>, %c: tensor<1xi64>) -> tensor<?xf32> {
  %y = relay.concatenate %x, %w {axis = 0} : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  %a = relay.stack %x, %x {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  %b = relay.stack %y, %y {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  // expected-error@+1 {{n and n + 1}}
  %d = relay.nn.dense %a, %b : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x2xf32>
  %z = relay.dyn.zeros %c {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}
