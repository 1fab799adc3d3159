// RUN: xrelay-opt --split-input-file -p create-shape-functions %s | filecheck %s

// An argument whose dims do not matter, or are all known, is not a parameter.
//
// CHECK-LABEL: relay.prim_func @neither
// CHECK-SAME:    shape_inputs = array<i64: 2, 0, 0>
// CHECK:       relay.shape_func @shape_func_nn_dense_add(%x_shape: tensor<2xi64>) -> tensor<2xi64> {
relay.prim_func @neither(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>) -> tensor<?x3xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  %1 = relay.add %0, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  relay.yield %1 : tensor<?x3xf32>
}

// -----

// An argument that is read is a parameter; its elements are widened to i64.
//
// CHECK-LABEL: relay.prim_func @data
// CHECK-SAME:    shape_inputs = array<i64: 0, 1>
// CHECK:       relay.shape_func @shape_func_dyn_broadcast_to(%s: tensor<2xi32>) -> tensor<2xi64> {
// CHECK-NEXT:    %[[I:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[E:.*]] = tensor.extract %s[%[[I]]] : tensor<2xi32>
// CHECK-NEXT:    %[[N:.*]] = arith.extsi %[[E]] : i32 to i64
// CHECK:         relay.require at_least %[[N]], %c0, "relay.dyn.broadcast_to of tensor<1xf32> and tensor<2xi32>: an element of shape must be at least 0, but is {0}"
// CHECK:         tensor.from_elements %[[N]], %{{.*}} : tensor<2xi64>
relay.prim_func @data(%x: tensor<1xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = relay.dyn.broadcast_to %x, %s : (tensor<1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  relay.yield %0 : tensor<?x?xf32>
}

// -----

// Unsigned elements are sizes if they are below 2^63.
//
// CHECK-LABEL: relay.prim_func @unsigned
// CHECK:         %[[E:.*]] = tensor.extract %s[%i0] : tensor<1xui64>
// CHECK-NEXT:    relay.measure "as_size"(%[[E]]) : (ui64) -> i64
relay.prim_func @unsigned(%x: tensor<f32>, %s: tensor<1xui64>) -> tensor<?xf32> {
  %0 = relay.dyn.broadcast_to %x, %s : (tensor<f32>, tensor<1xui64>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// B5: an argument that is read and whose shape matters is two parameters, its data first.
//
// CHECK-LABEL: relay.prim_func @both
// CHECK-SAME:    shape_inputs = array<i64: 3, 0>
// CHECK:       relay.shape_func @shape_func_dyn_nn_pad(%p: tensor<?x2xi64>, %p_shape: tensor<2xi64>) -> tensor<2xi64> {
relay.prim_func @both(%p: tensor<?x2xi64>, %v: tensor<i64>) -> tensor<?x?xi64> {
  %0 = relay.dyn.nn.pad %p, %p, %v {pad_mode = "constant"} : (tensor<?x2xi64>, tensor<?x2xi64>, tensor<i64>) -> tensor<?x?xi64>
  relay.yield %0 : tensor<?x?xi64>
}

// -----

// A scalar has an empty shape; parameters are in the order of the kernel's, however they are used.
//
// CHECK-LABEL: relay.prim_func @order
// CHECK-SAME:    shape_inputs = array<i64: 2, 0, 2>
// CHECK:       relay.shape_func @shape_func_add_add_sum(%a_shape: tensor<1xi64>, %b_shape: tensor<1xi64>) -> (tensor<1xi64>, tensor<0xi64>) {
// CHECK:         %[[S:.*]] = tensor.from_elements : tensor<0xi64>
// CHECK-NEXT:    relay.yield %{{.*}}, %[[S]] : tensor<1xi64>, tensor<0xi64>
relay.prim_func @order(%a: tensor<?xf32>, %s: tensor<f32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %0 = relay.add %b, %s : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = relay.add %0, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = relay.sum %1 : (tensor<?xf32>) -> tensor<f32>
  relay.yield %1, %2 : tensor<?xf32>, tensor<f32>
}
