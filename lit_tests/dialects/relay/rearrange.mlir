// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators that permute, join, part, pad and pick elements.

// CHECK-LABEL: @transpose
// CHECK:       relay.transpose %a0 : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK:       relay.transpose %a0 {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
func.func @transpose(%a0: tensor<2x3x4xf32>) {
  %0 = relay.transpose %a0 : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %1 = relay.transpose %a0 {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  func.return
}

// CHECK-LABEL: @reverse
// CHECK:       relay.reverse %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:       relay.reverse %a1 {axis = -1 : i64} : (tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @reverse(%a0: tensor<2x3xf32>, %a1: tensor<2x3xi64>) {
  %0 = relay.reverse %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.reverse %a1 {axis = -1 : i64} : (tensor<2x3xi64>) -> tensor<2x3xi64>
  func.return
}

// CHECK-LABEL: @concatenate
// CHECK:       relay.concatenate %a0, %a1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
// CHECK:       relay.concatenate %a0, %a2, %a3 {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x4xf32>
func.func @concatenate(%a0: tensor<2x3xf32>, %a1: tensor<4x3xf32>, %a2: tensor<2x1xf32>, %a3: tensor<2x0xf32>) {
  %0 = relay.concatenate %a0, %a1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %1 = relay.concatenate %a0, %a2, %a3 {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x4xf32>
  func.return
}

// CHECK-LABEL: @stack
// CHECK:       relay.stack %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2x3xf32>
// CHECK:       relay.stack %a0, %a1, %a2 {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x3xf32>
func.func @stack(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %a2: tensor<2x3xf32>) {
  %0 = relay.stack %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2x3xf32>
  %1 = relay.stack %a0, %a1, %a2 {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x3xf32>
  func.return
}

// CHECK-LABEL: @split
// CHECK:       relay.split %a0 {indices_or_sections = 3 : i64} : (tensor<6x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK:       relay.split %a1 {indices_or_sections = array<i64: 1, 3>, axis = 1 : i64} : (tensor<2x5xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
func.func @split(%a0: tensor<6x2xf32>, %a1: tensor<2x5xf32>) {
  %0, %1, %2 = relay.split %a0 {indices_or_sections = 3 : i64} : (tensor<6x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  %3, %4, %5 = relay.split %a1 {indices_or_sections = array<i64: 1, 3>, axis = 1 : i64} : (tensor<2x5xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  func.return
}

// CHECK-LABEL: @pad
// CHECK:       relay.nn.pad %a0, %a1 {pad_width = array<i64: 0, 0, 1, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
// CHECK:       relay.nn.pad %a0, %a1 {pad_width = array<i64: 1, 1, 2, 2>, pad_mode = "reflect"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x7xf32>
func.func @pad(%a0: tensor<2x3xf32>, %a1: tensor<f32>) {
  %0 = relay.nn.pad %a0, %a1 {pad_width = array<i64: 0, 0, 1, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
  %1 = relay.nn.pad %a0, %a1 {pad_width = array<i64: 1, 1, 2, 2>, pad_mode = "reflect"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x7xf32>
  func.return
}

// CHECK-LABEL: @strided_slice
// CHECK:       relay.strided_slice %a0 {begin = array<i64: 1>, end = array<i64: 4>} : (tensor<5x6xf32>) -> tensor<3x6xf32>
// CHECK:       relay.strided_slice %a0 {begin = array<i64: 0, 1>, end = array<i64: 5, 6>, strides = array<i64: 1, 2>} : (tensor<5x6xf32>) -> tensor<5x3xf32>
// CHECK:       relay.strided_slice %a0 {begin = array<i64: -1>, end = array<i64: -7>, strides = array<i64: -2>, axes = array<i64: 1>} : (tensor<5x6xf32>) -> tensor<5x3xf32>
// CHECK:       relay.strided_slice %a0 {begin = array<i64: 3, 1>, end = array<i64: -1, 2>, slice_mode = "size"} : (tensor<5x6xf32>) -> tensor<2x2xf32>
func.func @strided_slice(%a0: tensor<5x6xf32>) {
  %0 = relay.strided_slice %a0 {begin = array<i64: 1>, end = array<i64: 4>} : (tensor<5x6xf32>) -> tensor<3x6xf32>
  %1 = relay.strided_slice %a0 {begin = array<i64: 0, 1>, end = array<i64: 5, 6>, strides = array<i64: 1, 2>} : (tensor<5x6xf32>) -> tensor<5x3xf32>
  %2 = relay.strided_slice %a0 {begin = array<i64: -1>, end = array<i64: -7>, strides = array<i64: -2>, axes = array<i64: 1>} : (tensor<5x6xf32>) -> tensor<5x3xf32>
  %3 = relay.strided_slice %a0 {begin = array<i64: 3, 1>, end = array<i64: -1, 2>, slice_mode = "size"} : (tensor<5x6xf32>) -> tensor<2x2xf32>
  func.return
}

// CHECK-LABEL: @take
// CHECK:       relay.take %a0, %a1 : (tensor<5x6xf32>, tensor<7xi64>) -> tensor<7xf32>
// CHECK:       relay.take %a0, %a2 {axis = 0 : i64} : (tensor<5x6xf32>, tensor<2x3xi64>) -> tensor<2x3x6xf32>
// CHECK:       relay.take %a3, %a4 {axis = 0 : i64, mode = "wrap"} : (tensor<5x6xi64>, tensor<2xi32>) -> tensor<2x6xi64>
// CHECK:       relay.take %a5, %a6 {axis = 1 : i64, batch_dims = 1 : i64} : (tensor<3x5x6xf32>, tensor<3x2xi64>) -> tensor<3x2x6xf32>
func.func @take(%a0: tensor<5x6xf32>, %a1: tensor<7xi64>, %a2: tensor<2x3xi64>, %a3: tensor<5x6xi64>, %a4: tensor<2xi32>, %a5: tensor<3x5x6xf32>, %a6: tensor<3x2xi64>) {
  %0 = relay.take %a0, %a1 : (tensor<5x6xf32>, tensor<7xi64>) -> tensor<7xf32>
  %1 = relay.take %a0, %a2 {axis = 0 : i64} : (tensor<5x6xf32>, tensor<2x3xi64>) -> tensor<2x3x6xf32>
  %2 = relay.take %a3, %a4 {axis = 0 : i64, mode = "wrap"} : (tensor<5x6xi64>, tensor<2xi32>) -> tensor<2x6xi64>
  %3 = relay.take %a5, %a6 {axis = 1 : i64, batch_dims = 1 : i64} : (tensor<3x5x6xf32>, tensor<3x2xi64>) -> tensor<3x2x6xf32>
  func.return
}

// CHECK-LABEL: @gather(
// CHECK:       relay.gather %a0, %a1 {axis = 1 : i64} : (tensor<3x9xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
func.func @gather(%a0: tensor<3x9xf32>, %a1: tensor<3x2xi64>) {
  %0 = relay.gather %a0, %a1 {axis = 1 : i64} : (tensor<3x9xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  func.return
}

// CHECK-LABEL: @gather_nd(
// CHECK:       relay.gather_nd %a0, %a1 : (tensor<4x5x6xf32>, tensor<2x7xi64>) -> tensor<7x6xf32>
func.func @gather_nd(%a0: tensor<4x5x6xf32>, %a1: tensor<2x7xi64>) {
  %0 = relay.gather_nd %a0, %a1 : (tensor<4x5x6xf32>, tensor<2x7xi64>) -> tensor<7x6xf32>
  func.return
}

// CHECK-LABEL: @slice_like(
// CHECK:       relay.slice_like %a0, %a1 {axes = array<i64: 1>} : (tensor<2x3xf32>, tensor<5x2xi32>) -> tensor<2x2xf32>
func.func @slice_like(%a0: tensor<2x3xf32>, %a1: tensor<5x2xi32>) {
  %0 = relay.slice_like %a0, %a1 {axes = array<i64: 1>} : (tensor<2x3xf32>, tensor<5x2xi32>) -> tensor<2x2xf32>
  func.return
}
