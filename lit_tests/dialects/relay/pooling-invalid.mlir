// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @window(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{pool_size must be at least 1, but is 0}}
  %y = relay.nn.max_pool2d %x {pool_size = array<i64: 0, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x7xf32>
  func.return
}

// -----

func.func @rank(%x: tensor<3x8x8xf32>) {
  // expected-error@+1 {{data must have rank 4, but has rank 3}}
  %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 2, 2>} : (tensor<3x8x8xf32>) -> tensor<3x7x7xf32>
  func.return
}

// -----

func.func @empty_image(%x: tensor<1x3x0x8xf32>) {
  // expected-error@+1 {{the height of data must be at least 1, but is 0}}
  %y = relay.nn.global_avg_pool2d %x : (tensor<1x3x0x8xf32>) -> tensor<1x3x1x1xf32>
  func.return
}

// -----

func.func @method(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{method must be "nearest_neighbor" or "bilinear", but is "bicubic"}}
  %y = relay.nn.upsampling %x {method = "bicubic"} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  func.return
}
