// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators that repeat the elements of one tensor.

// CHECK-LABEL: @broadcast_to
// CHECK:       relay.broadcast_to %a0 {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
func.func @broadcast_to(%a0: tensor<3xf32>) {
  %0 = relay.broadcast_to %a0 {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @tile
// CHECK:       relay.tile %a0 {reps = array<i64: 2, 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
func.func @tile(%a0: tensor<3xf32>) {
  %0 = relay.tile %a0 {reps = array<i64: 2, 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @repeat
// CHECK:       relay.repeat %a0 {repeats = 2 : i64} : (tensor<3xf32>) -> tensor<6xf32>
// CHECK:       relay.repeat %a1 {repeats = 3 : i64, axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x9xf32>
func.func @repeat(%a0: tensor<3xf32>, %a1: tensor<2x3xf32>) {
  %0 = relay.repeat %a0 {repeats = 2 : i64} : (tensor<3xf32>) -> tensor<6xf32>
  %1 = relay.repeat %a1 {repeats = 3 : i64, axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x9xf32>
  func.return
}
