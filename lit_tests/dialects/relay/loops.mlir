// RUN: xrelay-opt %s | xrelay-opt | filecheck %s

// A loop, what it carries, and rows that move from turn to turn.
//
// CHECK-LABEL: @turns
// CHECK:         %b = relay.loop %a {count = 4 : i64} : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
// CHECK-NEXT:    %r = relay.read_rows %x {axis = 1 : i64, start = 2 : i64, step = 3 : i64} : (tensor<1x14x4xf32>) -> tensor<1x2x4xf32>
// CHECK-NEXT:    %c = relay.write_rows %r, %b {axis = 1 : i64, count = 2 : i64, start = 0 : i64, step = 2 : i64} : (tensor<1x2x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
// CHECK-NEXT:    %z = relay.end_loop %c : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
func.func @turns(%x: tensor<1x14x4xf32>) -> tensor<1x8x4xf32> {
  %a = relay.zeros {shape = array<i64: 1, 8, 4>, dtype = f32} : tensor<1x8x4xf32>
  %b = relay.loop %a {count = 4 : i64} : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %r = relay.read_rows %x {axis = 1 : i64, start = 2 : i64, step = 3 : i64} : (tensor<1x14x4xf32>) -> tensor<1x2x4xf32>
  %c = relay.write_rows %r, %b {axis = 1 : i64, count = 2 : i64, start = 0 : i64, step = 2 : i64} : (tensor<1x2x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %z = relay.end_loop %c : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  func.return %z : tensor<1x8x4xf32>
}
