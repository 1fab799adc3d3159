func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = demo.swish %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
