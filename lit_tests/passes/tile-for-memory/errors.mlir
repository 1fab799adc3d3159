// RUN: xrelay-opt --split-input-file --verify-diagnostics -p tile-for-memory %s

func.func @used_after(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // expected-error@+1 {{a step of a chain must be used in the chain alone}}
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = relay.tanh %a {relay.stripes = {chain = 0, step = 1, axis = 0, height = "2"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y, %a : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

func.func @not_by_rows(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{a step that ends in relay.cumsum is not computed by rows}}
  %a = relay.cumsum %x {axis = 0, relay.stripes = {chain = 0, step = 0}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = relay.tanh %a {relay.stripes = {chain = 0, step = 1, axis = 0, height = "2"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

func.func @without_end(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{chain 3 must have steps from 0 on, of which the last has a height}}
  %a = relay.nn.relu %x {relay.stripes = {chain = 3, step = 0}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %a : tensor<4x4xf32>
}

// -----

func.func @height(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{height must be rows, such as 8 or 1/4, but is '2/3'}}
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, axis = 0, height = "2/3"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %a : tensor<4x4xf32>
}

// -----

func.func @fields(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{relay.stripes must be {chain, step} and may have carried and early, or axis, height, joined and loop of the last step, but is {chain = 0 : i64}}}
  %a = relay.nn.relu %x {relay.stripes = {chain = 0}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %a : tensor<4x4xf32>
}
