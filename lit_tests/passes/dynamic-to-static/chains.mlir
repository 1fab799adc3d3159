// RUN: xrelay-opt --split-input-file -p dynamic-to-static %s | filecheck %s

// An exporter's chain (Shape, Gather, Unsqueeze, Concat, Reshape) is gone: the reshape copies dims.
//
// CHECK-LABEL: @split_heads
// CHECK-NEXT:    %[[Y:.*]] = relay.reshape %x {newshape = array<i64: 0, 0, 12, 64>} : (tensor<?x?x768xf32>) -> tensor<?x?x?x?xf32>
// CHECK-NEXT:    func.return %[[Y]]
func.func @split_heads(%x: tensor<?x?x768xf32>) -> tensor<?x?x?x?xf32> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<?x?x768xf32>) -> tensor<3xi64>
  %zero = relay.constant dense<0> : tensor<i64>
  %b = relay.take %s, %zero {axis = 0} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %t = relay.shape_of %x {dtype = i64} : (tensor<?x?x768xf32>) -> tensor<3xi64>
  %one = relay.constant dense<1> : tensor<i64>
  %n = relay.take %t, %one {axis = 0} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %b1 = relay.expand_dims %b {axis = 0} : (tensor<i64>) -> tensor<1xi64>
  %n1 = relay.expand_dims %n {axis = 0} : (tensor<i64>) -> tensor<1xi64>
  %heads = relay.constant dense<[12, 64]> : tensor<2xi64>
  %shape = relay.concatenate %b1, %n1, %heads {axis = 0} : (tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<4xi64>
  %y = relay.dyn.reshape %x, %shape : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  func.return %y : tensor<?x?x?x?xf32>
}

// -----

// A merged dim is inferred, as the products are equal for all sizes.
//
// CHECK-LABEL: @merge_heads
// CHECK-NEXT:    relay.reshape %x {newshape = array<i64: 0, 0, -1>} :
func.func @merge_heads(%x: tensor<?x?x?x64xf32>) -> tensor<?x?x?xf32> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<?x?x?x64xf32>) -> tensor<4xi64>
  %bn = relay.strided_slice %s {begin = array<i64: 0>, end = array<i64: 2>} : (tensor<4xi64>) -> tensor<2xi64>
  %hd = relay.strided_slice %s {begin = array<i64: 2>, end = array<i64: 4>} : (tensor<4xi64>) -> tensor<2xi64>
  %m = relay.prod %hd {axis = array<i64: 0>, keepdims = true} : (tensor<2xi64>) -> tensor<1xi64>
  %shape = relay.concatenate %bn, %m {axis = 0} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %y = relay.dyn.reshape %x, %shape : (tensor<?x?x?x64xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  func.return %y : tensor<?x?x?xf32>
}

// -----

// A reshape to the dims of another tensor reads sizes, not tensors of the chain.
//
// CHECK-LABEL: @reshape_to_other
// CHECK:         %[[N:.*]] = tensor.extract %{{.*}} : tensor<2xi64>
// CHECK:         %[[S:.*]] = tensor.from_elements %[[N]], %{{.*}} : tensor<2xi64>
// CHECK-NEXT:    relay.dyn.reshape %x, %[[S]] :
// CHECK-NOT:     relay.take
func.func @reshape_to_other(%x: tensor<?xf32>, %z: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %s = relay.shape_of %z {dtype = i64} : (tensor<?x4xf32>) -> tensor<2xi64>
  %i = relay.constant dense<[0, 1]> : tensor<2xi64>
  %t = relay.take %s, %i {axis = 0} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %y = relay.dyn.reshape %x, %t : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// Dims of one name are one size.
//
// CHECK-LABEL: @named
// CHECK-NEXT:    relay.reshape %x {newshape = array<i64: 0, 2, 2>}
func.func @named(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}, %z: tensor<?xf32> {relay.dims = ["n"]}) -> tensor<?x?x?xf32> {
  %s = relay.shape_of %z {dtype = i64} : (tensor<?xf32>) -> tensor<1xi64>
  %c = relay.constant dense<[2, 2]> : tensor<2xi64>
  %t = relay.concatenate %s, %c {axis = 0} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %y = relay.dyn.reshape %x, %t : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  func.return %y : tensor<?x?x?xf32>
}

// -----

// The shape of an operator's result is what its rule says.
//
// CHECK-LABEL: @shape_of_result
// CHECK:         %[[P:.*]] = arith.muli
// CHECK:         %[[S:.*]] = tensor.from_elements %[[P]], %{{.*}} : tensor<2xi64>
// CHECK-NEXT:    relay.dyn.zeros %[[S]]
func.func @shape_of_result(%x: tensor<?x3xf32>) -> tensor<?x?xf32> {
  %d = relay.concatenate %x, %x {axis = 0} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %s = relay.shape_of %d {dtype = i64} : (tensor<?x3xf32>) -> tensor<2xi64>
  %y = relay.dyn.zeros %s {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// Expand as exporters write it: where(shape == -1, 1, shape), as no dim is -1.
//
// CHECK-LABEL: @expand
// CHECK:         %[[S:.*]] = tensor.from_elements %{{.*}}, %{{.*}} : tensor<2xi64>
// CHECK-NEXT:    relay.dyn.broadcast_to %x, %[[S]]
// CHECK-NOT:     relay.where
func.func @expand(%x: tensor<4xf32>, %z: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %s = relay.shape_of %z {dtype = i64} : (tensor<?x4xf32>) -> tensor<2xi64>
  %m = relay.constant dense<-1> : tensor<i64>
  %e = relay.equal %s, %m : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %one = relay.constant dense<1> : tensor<2xi64>
  %t = relay.where %e, %one, %s : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %y = relay.dyn.broadcast_to %x, %t : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// A broadcast of a tensor to its own shape copies nothing.
//
// CHECK-LABEL: @own_shape
// CHECK-NEXT:    %[[V:.*]] = relay.reshape %x {newshape = array<i64: 0, 0>} : (tensor<?x4xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    return %[[V]]
func.func @own_shape(%x: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<?x4xf32>) -> tensor<2xi64>
  %v = relay.dyn.broadcast_to %x, %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %v : tensor<?x?xf32>
}

// -----

// The first dims may be split, whatever follows them.
//
// CHECK-LABEL: @split_first
// CHECK:         relay.reshape %{{.*}} {newshape = array<i64: -4, -1, 2, -2>} : (tensor<?x?x?xf32>) -> tensor<?x?x?x?xf32>
func.func @split_first(%x: tensor<?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<?x?x?xf32>) -> tensor<3xi64>
  %b = relay.strided_slice %s {begin = array<i64: 0>, end = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
  %nm = relay.strided_slice %s {begin = array<i64: 1>, end = array<i64: 3>} : (tensor<3xi64>) -> tensor<2xi64>
  %two = relay.constant dense<2> : tensor<1xi64>
  %shape = relay.concatenate %b, %two, %nm {axis = 0} : (tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<4xi64>
  %twice = relay.concatenate %x, %x {axis = 0} : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %y = relay.dyn.reshape %twice, %shape {allowzero = true} : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  func.return %y : tensor<?x?x?x?xf32>
}

// -----

// Integers that follow from a static shape are a constant, wherever they are used.
//
// CHECK-LABEL: @static_shape
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<24> : tensor<i64>
// CHECK-NEXT:    func.return %[[C]]
func.func @static_shape(%x: tensor<2x3x4xf32>) -> tensor<i64> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %p = relay.prod %s : (tensor<3xi64>) -> tensor<i64>
  func.return %p : tensor<i64>
}

// -----

// Sizes that are used as a tensor are computed as sizes too.
//
// CHECK-LABEL: @returned
// CHECK:         %[[P:.*]] = arith.muli
// CHECK-NEXT:    %[[S:.*]] = tensor.from_elements %[[P]] : tensor<1xi64>
// CHECK-NEXT:    func.return %[[S]]
func.func @returned(%x: tensor<?x?xf32>) -> tensor<1xi64> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<?x?xf32>) -> tensor<2xi64>
  %p = relay.prod %s {axis = array<i64: 0>, keepdims = true} : (tensor<2xi64>) -> tensor<1xi64>
  func.return %p : tensor<1xi64>
}

// -----

// A size that depends on data stays a tensor.
//
// CHECK-LABEL: @data
// CHECK-NEXT:    %[[N:.*]] = relay.add %n, %n
// CHECK-NEXT:    relay.dyn.zeros %[[N]]
func.func @data(%n: tensor<1xi64>) -> tensor<?xf32> {
  %m = relay.add %n, %n : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %y = relay.dyn.zeros %m {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

// A product of i32 may wrap, so that it is not the product of the dims; a dim and a constant are
// followed. The shape itself is of i64 and converted.
//
// CHECK-LABEL: @narrow
// CHECK-NEXT:    %[[S:.*]] = relay.shape_of %x {dtype = i64}
// CHECK-NEXT:    %[[T:.*]] = relay.cast %[[S]] {dtype = i32}
// CHECK-NEXT:    %[[P:.*]] = relay.prod %[[T]]
// CHECK:         relay.dyn.zeros %{{.*}} {dtype = f32}
// CHECK-NEXT:    relay.reshape %x {newshape = array<i64: 0, 0>}
func.func @narrow(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %s = relay.shape_of %x {dtype = i32} : (tensor<?x?xf32>) -> tensor<2xi32>
  %p = relay.prod %s {axis = array<i64: 0>, keepdims = true} : (tensor<2xi32>) -> tensor<1xi32>
  %y = relay.dyn.zeros %p {dtype = f32} : (tensor<1xi32>) -> tensor<?xf32>
  %z = relay.dyn.reshape %x, %s : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  func.return %y, %z : tensor<?xf32>, tensor<?x?xf32>
}

// -----

// A length is read by arange as a size.
//
// CHECK-LABEL: @positions
// CHECK:         %[[N:.*]] = tensor.from_elements %{{.*}} : tensor<i64>
// CHECK:         relay.arange %{{.*}}, %[[N]], %{{.*}}
func.func @positions(%x: tensor<4x?xi64>) -> tensor<?xi64> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<4x?xi64>) -> tensor<2xi64>
  %i = relay.constant dense<1> : tensor<i64>
  %n = relay.take %s, %i {axis = 0} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %y = relay.arange %zero, %n, %one {dtype = i64} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  func.return %y : tensor<?xi64>
}

// -----

// Types are sharper once infer-types has run: see infer-types after this pass.
//
// CHECK-LABEL: @twice
// CHECK:         relay.reshape %x {newshape = array<i64: 2, -1>} : (tensor<?xf32>) -> tensor<?x?xf32>
func.func @twice(%x: tensor<?xf32>) -> tensor<?x?xf32> {
  %s = relay.constant dense<[2, -1]> : tensor<2xi64>
  %y = relay.dyn.reshape %x, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}
