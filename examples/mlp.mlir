// A multi-layer perceptron: 8 images of 28 by 28 pixels, two hidden layers, 10 classes.
//
//     xrelay-run examples/mlp.mlir --random-seed 0 --random-weights --stats
//
// Result types may be omitted: `infer-types` replaces `!relay.incomplete`.

func.func @main(%image: tensor<8x28x28xf32>) -> (tensor<8x10xf32> {relay.name = "probability"}) {
  %pixels = relay.nn.batch_flatten %image : (tensor<8x28x28xf32>) -> tensor<8x784xf32>

  // Hidden layer 1. A weight has one row per output.
  %w1 = relay.param "w1" : tensor<128x784xf32>
  %b1 = relay.param "b1" : tensor<128xf32>
  %dense1 = relay.nn.dense %pixels, %w1 : (tensor<8x784xf32>, tensor<128x784xf32>) -> !relay.incomplete
  %bias1 = relay.nn.bias_add %dense1, %b1 : (!relay.incomplete, tensor<128xf32>) -> !relay.incomplete
  %hidden1 = relay.nn.relu %bias1 : (!relay.incomplete) -> tensor<8x128xf32>

  // Hidden layer 2.
  %w2 = relay.param "w2" : tensor<64x128xf32>
  %b2 = relay.param "b2" : tensor<64xf32>
  %dense2 = relay.nn.dense %hidden1, %w2 : (tensor<8x128xf32>, tensor<64x128xf32>) -> !relay.incomplete
  %bias2 = relay.nn.bias_add %dense2, %b2 : (!relay.incomplete, tensor<64xf32>) -> !relay.incomplete
  %hidden2 = relay.nn.relu %bias2 : (!relay.incomplete) -> tensor<8x64xf32>

  // Output.
  %w3 = relay.param "w3" : tensor<10x64xf32>
  %b3 = relay.param "b3" : tensor<10xf32>
  %dense3 = relay.nn.dense %hidden2, %w3 : (tensor<8x64xf32>, tensor<10x64xf32>) -> !relay.incomplete
  %logits = relay.nn.bias_add %dense3, %b3 : (!relay.incomplete, tensor<10xf32>) -> tensor<8x10xf32>
  %probability = relay.nn.softmax %logits : (tensor<8x10xf32>) -> tensor<8x10xf32>
  func.return %probability : tensor<8x10xf32>
}
