// RUN: xrelay-opt --split-input-file -p simplify-inference %s | filecheck %s

// A reshape of a reshape is one reshape, or none if it leads back to the first shape.
//
// CHECK-LABEL: func.func @reshapes(%x
// CHECK-NEXT:    %b = relay.reshape %x {newshape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    func.return %b, %x
func.func @reshapes(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %a = relay.reshape %x {newshape = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %b = relay.reshape %a {newshape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>
  %c = relay.reshape %a {newshape = array<i64: 2, 3>} : (tensor<6xf32>) -> tensor<2x3xf32>
  func.return %b, %c : tensor<3x2xf32>, tensor<2x3xf32>
}

// -----

// Two transpositions are one, or none if they undo each other.
//
// CHECK-LABEL: func.func @transpositions(%x
// CHECK-NEXT:    %b = relay.transpose %x {axes = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT:    func.return %b, %x
func.func @transpositions(%x: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %a = relay.transpose %x {axes = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %b = relay.transpose %a {axes = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %c = relay.transpose %x : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %d = relay.transpose %c : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  func.return %b, %d : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// -----

// A cast, reshape or transposition to what the operand is already, or a slice of all, is removed.
//
// CHECK-LABEL: func.func @nothing_to_do(%x
// CHECK-NEXT:    func.return %x
func.func @nothing_to_do(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = relay.cast %x {dtype = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = relay.reshape %a {newshape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = relay.transpose %b {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = relay.strided_slice %c {begin = array<i64: 0>, end = array<i64: 9>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}

// -----

// A slice that reverses its elements stays.
//
// CHECK-LABEL: func.func @reversed(%x
// CHECK:         relay.strided_slice
func.func @reversed(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = relay.strided_slice %x {begin = array<i64: -1>, end = array<i64: -9>, strides = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}

// -----

// A reshape to a shape that is known only at run time stays.
//
// CHECK-LABEL: func.func @dynamic(%x
// CHECK:         relay.reshape
// CHECK:         relay.reshape
func.func @dynamic(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %a = relay.reshape %x {newshape = array<i64: -1>} : (tensor<?x3xf32>) -> tensor<?xf32>
  %b = relay.reshape %a {newshape = array<i64: -1, 3>} : (tensor<?xf32>) -> tensor<?x3xf32>
  func.return %b : tensor<?x3xf32>
}
