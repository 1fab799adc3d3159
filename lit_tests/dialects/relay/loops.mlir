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

// A loop over the rows of an open tensor; of those that are read, some may not be there.
//
// CHECK-LABEL: @open
// CHECK:         %b = relay.loop %a {axis = 1 : i64, start = -1 : i64, step = 3 : i64} : (tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
// CHECK-NEXT:    %r = relay.read_rows %x fill %z : tensor<f32> {axis = 1 : i64, start = -2 : i64, step = 3 : i64} : (tensor<1x?x4xf32>) -> tensor<1x3x4xf32>
// CHECK-NEXT:    %q = relay.exp %r
// CHECK-NEXT:    %f = relay.fill_rows %q, %z, %s {axis = 1 : i64, start = -1 : i64, step = 3 : i64} : (tensor<1x3x4xf32>, tensor<f32>, tensor<3xi64>) -> tensor<1x3x4xf32>
func.func @open(%x: tensor<1x?x4xf32>, %s: tensor<3xi64>) -> tensor<1x?x4xf32> {
  %a = relay.dyn.zeros %s {dtype = f32} : (tensor<3xi64>) -> tensor<1x?x4xf32>
  %z = relay.constant dense<-1.0> : tensor<f32>
  %b = relay.loop %a {axis = 1 : i64, start = -1 : i64, step = 3 : i64} : (tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
  %r = relay.read_rows %x fill %z : tensor<f32> {axis = 1 : i64, start = -2 : i64, step = 3 : i64} : (tensor<1x?x4xf32>) -> tensor<1x3x4xf32>
  %q = relay.exp %r : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %f = relay.fill_rows %q, %z, %s {axis = 1 : i64, start = -1 : i64, step = 3 : i64} : (tensor<1x3x4xf32>, tensor<f32>, tensor<3xi64>) -> tensor<1x3x4xf32>
  %c = relay.write_rows %f, %b {axis = 1 : i64, count = 3 : i64, start = -1 : i64, step = 3 : i64} : (tensor<1x3x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
  %e = relay.end_loop %c : (tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
  func.return %e : tensor<1x?x4xf32>
}

// Of a known number of rows, too, those that are not there are filled, or not written.
//
// CHECK-LABEL: @clips
// CHECK:         %r = relay.read_rows %x fill %z : tensor<f32> {axis = 0 : i64, start = -2 : i64, step = 3 : i64} : (tensor<7x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %c = relay.write_rows %r, %b {axis = 0 : i64, clips, count = 3 : i64, start = -1 : i64, step = 3 : i64} : (tensor<3x4xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
func.func @clips(%x: tensor<7x4xf32>) -> tensor<7x4xf32> {
  %a = relay.zeros {shape = array<i64: 7, 4>, dtype = f32} : tensor<7x4xf32>
  %z = relay.constant dense<-1.0> : tensor<f32>
  %b = relay.loop %a {count = 3 : i64} : (tensor<7x4xf32>) -> tensor<7x4xf32>
  %r = relay.read_rows %x fill %z : tensor<f32> {axis = 0 : i64, start = -2 : i64, step = 3 : i64} : (tensor<7x4xf32>) -> tensor<3x4xf32>
  %c = relay.write_rows %r, %b {axis = 0 : i64, clips, count = 3 : i64, start = -1 : i64, step = 3 : i64} : (tensor<3x4xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
  %e = relay.end_loop %c : (tensor<7x4xf32>) -> tensor<7x4xf32>
  func.return %e : tensor<7x4xf32>
}
