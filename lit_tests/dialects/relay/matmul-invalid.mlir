// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @dense(%x: tensor<2x3xf32>, %w: tensor<8x4xf32>) {
  // expected-error@+1 {{the reduced dims must be equal, but are 3 and 4}}
  %y = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  func.return
}

// -----

func.func @rank(%x: tensor<2x3xf32>, %w: tensor<3xf32>) {
  // expected-error@+1 {{weight must have rank 2, but has rank 1}}
  %y = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @panels(%x: tensor<2x3xf32>, %w: tensor<5x4x8xf32>) {
  // expected-error@+1 {{the reduced dims must be equal, but are 3 and 4}}
  %y = relay.nn.packed_dense %x, %w : (tensor<2x3xf32>, tensor<5x4x8xf32>) -> tensor<2x40xf32>
  func.return
}

// -----

func.func @batches(%x: tensor<2x2x4xf32>, %w: tensor<3x5x4xf32>) {
  // expected-error@+1 {{batches must be equal or 1, but are 2 and 3}}
  %y = relay.nn.batch_matmul %x, %w : (tensor<2x2x4xf32>, tensor<3x5x4xf32>) -> tensor<2x2x5xf32>
  func.return
}

// -----

// Two element types need a third one for the result.
func.func @element_types(%x: tensor<2x4xui8>, %w: tensor<8x4xi8>) {
  %y = relay.nn.dense %x, %w {out_dtype = i32} : (tensor<2x4xui8>, tensor<8x4xi8>) -> tensor<2x8xi32>
  // expected-error@+1 {{operands of relay.nn.dense must have one element type, but operand 0 has ui8 and operand 1 has i8}}
  %z = relay.nn.dense %x, %w : (tensor<2x4xui8>, tensor<8x4xi8>) -> tensor<2x8xi32>
  func.return
}
