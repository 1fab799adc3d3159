// One block of a transformer encoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762) with
// normalization before each part (as in GPT-2): 16 tokens of 64 features, 4 heads of 16.
//
//     x = x + attention(layer_norm(x))
//     x = x + feed_forward(layer_norm(x))
//
//     xrelay-run examples/transformer_block.mlir --random-seed 0 --random-weights --stats

!tokens = tensor<16x64xf32>  // token, feature
!split = tensor<16x4x16xf32>  // token, head, feature of the head
!heads = tensor<4x16x16xf32>  // head, token, feature of the head
!scores = tensor<4x16x16xf32>  // head, query token, key token
!wide = tensor<16x256xf32>  // token, hidden feature
!square = tensor<64x64xf32>
!vector = tensor<64xf32>

func.func @main(%x: !tokens) -> (!tokens {relay.name = "y"}) {
  // Self-attention: queries, keys and values are linear in the normalized tokens.
  %gamma1 = relay.param "gamma1" : !vector
  %beta1 = relay.param "beta1" : !vector
  %norm1 = relay.nn.layer_norm %x, %gamma1, %beta1 : (!tokens, !vector, !vector) -> !tokens

  %wq = relay.param "wq" : !square
  %wk = relay.param "wk" : !square
  %wv = relay.param "wv" : !square
  %q = relay.nn.dense %norm1, %wq : (!tokens, !square) -> !tokens
  %k = relay.nn.dense %norm1, %wk : (!tokens, !square) -> !tokens
  %v = relay.nn.dense %norm1, %wv : (!tokens, !square) -> !tokens

  // Split the features into heads, and use the heads as the batch.
  %q.split = relay.reshape %q {newshape = array<i64: 16, 4, 16>} : (!tokens) -> !split
  %k.split = relay.reshape %k {newshape = array<i64: 16, 4, 16>} : (!tokens) -> !split
  %v.split = relay.reshape %v {newshape = array<i64: 16, 4, 16>} : (!tokens) -> !split
  %q.heads = relay.transpose %q.split {axes = array<i64: 1, 0, 2>} : (!split) -> !heads
  %k.heads = relay.transpose %k.split {axes = array<i64: 1, 0, 2>} : (!split) -> !heads
  %v.heads = relay.transpose %v.split {axes = array<i64: 1, 0, 2>} : (!split) -> !heads

  // softmax(Q Kᵀ / √16) V. By default, batch_matmul transposes its second operand.
  %products = relay.nn.batch_matmul %q.heads, %k.heads : (!heads, !heads) -> !scores
  %scale = relay.constant dense<0.25> : tensor<f32>
  %scores = relay.multiply %products, %scale : (!scores, tensor<f32>) -> !scores
  %weights = relay.nn.softmax %scores {axis = -1} : (!scores) -> !scores
  %mixed = relay.nn.batch_matmul %weights, %v.heads {transpose_b = false} : (!scores, !heads) -> !heads

  // Concatenate the heads, then apply a linear layer and add the residual.
  %mixed.split = relay.transpose %mixed {axes = array<i64: 1, 0, 2>} : (!heads) -> !split
  %joined = relay.reshape %mixed.split {newshape = array<i64: 16, 64>} : (!split) -> !tokens
  %wo = relay.param "wo" : !square
  %attention = relay.nn.dense %joined, %wo : (!tokens, !square) -> !tokens
  %x1 = relay.add %x, %attention : (!tokens, !tokens) -> !tokens

  // Feed-forward, separately for each token, with a hidden layer four times as wide.
  %gamma2 = relay.param "gamma2" : !vector
  %beta2 = relay.param "beta2" : !vector
  %norm2 = relay.nn.layer_norm %x1, %gamma2, %beta2 : (!tokens, !vector, !vector) -> !tokens
  %w1 = relay.param "w1" : tensor<256x64xf32>
  %b1 = relay.param "b1" : tensor<256xf32>
  %dense1 = relay.nn.dense %norm2, %w1 : (!tokens, tensor<256x64xf32>) -> !wide
  %bias1 = relay.nn.bias_add %dense1, %b1 : (!wide, tensor<256xf32>) -> !wide
  %hidden = relay.nn.gelu %bias1 : (!wide) -> !wide
  %w2 = relay.param "w2" : tensor<64x256xf32>
  %b2 = relay.param "b2" : !vector
  %dense2 = relay.nn.dense %hidden, %w2 : (!wide, tensor<64x256xf32>) -> !tokens
  %feed_forward = relay.nn.bias_add %dense2, %b2 : (!tokens, !vector) -> !tokens
  %y = relay.add %x1, %feed_forward : (!tokens, !tokens) -> !tokens
  func.return %y : !tokens
}
