func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = relay.nn.softmax %x : (tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}
