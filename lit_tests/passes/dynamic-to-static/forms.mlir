// RUN: xrelay-opt --split-input-file -p dynamic-to-static %s | filecheck %s

// An operator that reads integers becomes the operator that has them as attributes.

// CHECK-LABEL: @squeeze
// CHECK-NEXT:    relay.squeeze %x {axis = array<i64: 0>}
func.func @squeeze(%x: tensor<1x?x1xf32>) -> tensor<?x?xf32> {
  %a = relay.constant dense<[0]> : tensor<1xi64>
  %y = relay.dyn.squeeze %x, %a : (tensor<1x?x1xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @expand_dims
// CHECK-NEXT:    relay.expand_dims %x {axis = 1 : i64, num_newaxis = 2 : i64}
func.func @expand_dims(%x: tensor<?x3xf32>) -> tensor<?x?x?x?xf32> {
  %a = relay.constant dense<1> : tensor<i64>
  %y = relay.dyn.expand_dims %x, %a {num_newaxis = 2 : i64} : (tensor<?x3xf32>, tensor<i64>) -> tensor<?x?x?x?xf32>
  func.return %y : tensor<?x?x?x?xf32>
}

// -----

// CHECK-LABEL: @broadcast_to
// CHECK-NEXT:    relay.broadcast_to %x {shape = array<i64: 2, 3>}
func.func @broadcast_to(%x: tensor<3xf32>) -> tensor<?x?xf32> {
  %s = relay.constant dense<[2, 3]> : tensor<2xi64>
  %y = relay.dyn.broadcast_to %x, %s : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @tile
// CHECK-NEXT:    relay.tile %x {reps = array<i64: 2, 3>}
func.func @tile(%x: tensor<3xf32>) -> tensor<?x?xf32> {
  %s = relay.constant dense<[2, 3]> : tensor<2xi64>
  %y = relay.dyn.tile %x, %s : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @strided_slice
// CHECK-NEXT:    relay.strided_slice %x {begin = array<i64: 1>, end = array<i64: -1>, strides = array<i64: 2>, axes = array<i64: 1>}
func.func @strided_slice(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %b = relay.constant dense<[1]> : tensor<1xi64>
  %e = relay.constant dense<[-1]> : tensor<1xi64>
  %s = relay.constant dense<[2]> : tensor<1xi64>
  %y = relay.dyn.strided_slice %x, %b, %e, %s {axes = array<i64: 1>} : (tensor<2x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x?xf32>
  func.return %y : tensor<2x?xf32>
}

// -----

// CHECK-LABEL: @pad
// CHECK-NEXT:    relay.nn.pad %x, %v {pad_width = array<i64: 0, 1, 2, 3>}
func.func @pad(%x: tensor<?x3xf32>, %v: tensor<f32>) -> tensor<?x?xf32> {
  %w = relay.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
  %y = relay.dyn.nn.pad %x, %w, %v : (tensor<?x3xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @filled
// CHECK-NEXT:    relay.zeros {{{.*}}shape = array<i64: 2, 3>{{.*}}}
// CHECK-NEXT:    relay.ones {{{.*}}shape = array<i64: 2, 3>{{.*}}}
// CHECK-NEXT:    relay.full %v {shape = array<i64: 2, 3>}
func.func @filled(%v: tensor<f32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = relay.constant dense<[2, 3]> : tensor<2xi64>
  %a = relay.dyn.zeros %s {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  %b = relay.dyn.ones %s {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  %c = relay.dyn.full %v, %s : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %a, %b, %c : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @one_hot
// CHECK-NEXT:    relay.one_hot %i, %on, %off {depth = 4 : i64, axis = -1 : i64, dtype = f32}
func.func @one_hot(%i: tensor<3xi32>, %on: tensor<f32>, %off: tensor<f32>) -> tensor<3x?xf32> {
  %n = relay.constant dense<4> : tensor<i64>
  %y = relay.dyn.one_hot %i, %on, %off, %n {axis = -1 : i64, dtype = f32} : (tensor<3xi32>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<3x?xf32>
  func.return %y : tensor<3x?xf32>
}

// -----

// CHECK-LABEL: @topk
// CHECK-NEXT:    relay.topk %x {{{.*}}k = 2 : i64
func.func @topk(%x: tensor<3x4xf32>) -> (tensor<3x?xf32>, tensor<3x?xi32>) {
  %k = relay.constant dense<2> : tensor<i64>
  %v, %i = relay.dyn.topk %x, %k {dtype = i32} : (tensor<3x4xf32>, tensor<i64>) -> (tensor<3x?xf32>, tensor<3x?xi32>)
  func.return %v, %i : tensor<3x?xf32>, tensor<3x?xi32>
}

// -----

// CHECK-LABEL: @resize2d
// CHECK-NEXT:    relay.image.resize2d %x {size = array<i64: 6, 8>}
func.func @resize2d(%x: tensor<1x2x3x4xf32>, %roi: tensor<4xf32>) -> tensor<1x2x?x?xf32> {
  %s = relay.constant dense<[6, 8]> : tensor<2xi64>
  %y = relay.dyn.image.resize2d %x, %s, %roi : (tensor<1x2x3x4xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<1x2x?x?xf32>
  func.return %y : tensor<1x2x?x?xf32>
}

// -----

// A matrix of sizes is a vector, reshaped: the machine computes vectors.
//
// CHECK-LABEL: @pad_by_sizes
// CHECK:         %[[V:.*]] = tensor.from_elements %n, %{{.*}} : tensor<2xi64>
// CHECK-NEXT:    %[[W:.*]] = relay.reshape %[[V]] {newshape = array<i64: 1, 2>{{.*}}} : (tensor<2xi64>) -> tensor<1x2xi64>
// CHECK-NEXT:    relay.dyn.nn.pad %x, %[[W]], %v
func.func @pad_by_sizes(%x: tensor<?xf32> {relay.dims = ["n"]}, %v: tensor<f32>) -> tensor<?xf32> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<?xf32>) -> tensor<1xi64>
  %c = relay.constant dense<3> : tensor<1xi64>
  %p = relay.concatenate %s, %c {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %w = relay.expand_dims %p {axis = 0 : i64} : (tensor<2xi64>) -> tensor<1x2xi64>
  %y = relay.dyn.nn.pad %x, %w, %v : (tensor<?xf32>, tensor<1x2xi64>, tensor<f32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

// A size that exists for no dim of 1 says nothing of what is broadcast with it.
//
// CHECK-LABEL: @fails_for_one
// CHECK:         %[[T:.*]] = relay.topk %x {k = 3
// CHECK:         relay.maximum %x, %[[T]] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
func.func @fails_for_one(%x: tensor<?xf32>) -> tensor<?xf32> {
  %k = relay.constant dense<3> : tensor<i64>
  %t = relay.dyn.topk %x, %k {ret_type = "values", dtype = i32} : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  %y = relay.maximum %x, %t : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}
