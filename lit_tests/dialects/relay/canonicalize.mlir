// RUN: xrelay-opt --split-input-file -p canonicalize %s | filecheck %s

// Two transpositions are one, or none.
//
// CHECK-LABEL: @transpositions
// CHECK:         %[[A:.*]] = relay.transpose %x {axes = array<i64: 2, 0, 1>}
// CHECK-NEXT:    func.return %[[A]], %x
func.func @transpositions(%x: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = relay.transpose %0 {axes = array<i64: 1, 0, 2>} : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
  %2 = relay.transpose %0 {axes = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  func.return %1, %2 : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// -----

// Operators that only reshape are one reshape, or none.
//
// CHECK-LABEL: @reshapes
// CHECK:         %[[A:.*]] = relay.reshape %x {newshape = array<i64: 3, 2>}
// CHECK-NEXT:    func.return %[[A]], %x
func.func @reshapes(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = relay.expand_dims %x {axis = 0} : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 3, 2>} : (tensor<1x2x3xf32>) -> tensor<3x2xf32>
  %2 = relay.squeeze %0 {axis = array<i64: 0>} : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %2 : tensor<3x2xf32>, tensor<2x3xf32>
}

// -----

// A cast to the same type does nothing.
//
// CHECK-LABEL: @cast
// CHECK-NEXT:    func.return %x
func.func @cast(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.cast %x {dtype = f32} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// A copy from a device to itself does nothing.
//
// CHECK-LABEL: @copy
// CHECK-NEXT:    func.return %x
func.func @copy(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %0 = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cpu:0>>
  func.return %0 : tensor<4xf32, #relay.device<cpu:0>>
}

// -----

// A projection of a tuple is the field.
//
// CHECK-LABEL: @projection
// CHECK-NEXT:    func.return %y
func.func @projection(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.tuple %x, %y : (tensor<4xf32>, tensor<2xf32>) -> tuple<tensor<4xf32>, tensor<2xf32>>
  %1 = relay.tuple_get_item %0[1] : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

// -----

// A branch on a constant is the branch taken.
//
// CHECK-LABEL: @branch
// CHECK-NEXT:    %[[Y:.*]] = relay.exp %x
// CHECK-NEXT:    func.return %[[Y]]
func.func @branch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<true> : tensor<i1>
  %0 = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %1 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}

// -----

// A kernel keeps its operators.
//
// CHECK-LABEL: @kernel
// CHECK-NEXT:    relay.cast
// CHECK-NEXT:    relay.yield
relay.prim_func @kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.cast %x {dtype = f32} : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
