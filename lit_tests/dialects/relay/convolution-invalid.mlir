// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @groups(%x: tensor<1x64x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{groups must divide channels: 3 does not divide 64}}
  %y = relay.nn.conv2d %x, %w {groups = 3} : (tensor<1x64x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

func.func @channels(%x: tensor<1x64x8x8xf32>, %w: tensor<6x32x3x3xf32>) {
  // expected-error@+1 {{weight's input channels must be 64, but is 32}}
  %y = relay.nn.conv2d %x, %w : (tensor<1x64x8x8xf32>, tensor<6x32x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

func.func @window(%x: tensor<1x3x2x8xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error@+1 {{the dilated window's height must be at most that of the padded data, 2, but is 3}}
  %y = relay.nn.conv2d %x, %w : (tensor<1x3x2x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x1x6xf32>
  func.return
}

// -----

func.func @padding(%x: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error@+1 {{padding must have 4 entries, but has 2}}
  %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
  func.return
}

// -----

func.func @strides(%x: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error@+1 {{strides must be at least 1, but is 0}}
  %y = relay.nn.conv2d %x, %w {strides = array<i64: 1, 0>} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

func.func @layout(%x: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error@+1 {{data_layout must be "NCHW" or "NHWC", but is "NCHW4c"}}
  %y = relay.nn.conv2d %x, %w {data_layout = "NCHW4c"} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

func.func @output_padding(%x: tensor<1x3x8x8xf32>, %w: tensor<3x6x3x3xf32>) {
  // expected-error@+1 {{output_padding must be below the larger of stride and dilation, 1, but is 1}}
  %y = relay.nn.conv2d_transpose %x, %w {output_padding = array<i64: 0, 1>} : (tensor<1x3x8x8xf32>, tensor<3x6x3x3xf32>) -> tensor<1x6x10x11xf32>
  func.return
}
