// Operators of the plug-in among built-in ones, for `xrelay-run`.

func.func @main(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>)
    -> (tensor<6x5xf32>, tensor<6xf32>, tensor<6xf32>) {
  %half = relay.constant dense<0.5> : tensor<f32>
  %rows = demo.as_rows %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %y = relay.nn.dense %rows, %w : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  %z = relay.multiply %y, %half : (tensor<6x5xf32>, tensor<f32>) -> tensor<6x5xf32>
  %t = demo.scaled_tanh %z {scale = 3.0} : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %least, %greatest = demo.min_max %t {axes = array<i64: 1>}
      : (tensor<6x5xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  func.return %t, %least, %greatest : tensor<6x5xf32>, tensor<6xf32>, tensor<6xf32>
}
