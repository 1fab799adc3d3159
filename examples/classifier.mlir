// A small classifier. Its layer must run on an accelerator; the device of the result is unconstrained.

func.func @main(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %dense = relay.nn.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> !relay.incomplete
  %bias = relay.nn.bias_add %dense, %b : (!relay.incomplete, tensor<4xf32>) -> !relay.incomplete
  %relu = relay.nn.relu %bias : (!relay.incomplete) -> !relay.incomplete
  %there = relay.on_device %relu, #relay.device<cuda:0> : (!relay.incomplete) -> !relay.incomplete
  %p = relay.nn.softmax %there : (!relay.incomplete) -> tensor<2x4xf32>
  func.return %p : tensor<2x4xf32>
}
