// A layer on any number of rows: the size is known only when the program runs.
func.func @main(%x: tensor<?x8xf32> {relay.dims = ["n", 8]}, %y: tensor<?x8xf32> {relay.dims = ["n", 8]},
                %w: tensor<4x8xf32>) -> tensor<?x4xf32> {
  %sum = relay.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %dense = relay.nn.dense %sum, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  func.return %dense : tensor<?x4xf32>
}
