// RUN: xrelay-opt --split-input-file -p create-shape-functions %s | filecheck %s

// The shape of a result that has an argument's dims is the argument's shape.
//
// CHECK-LABEL: relay.prim_func @same
// CHECK-SAME:    attributes {shape_func = @shape_func_nn_relu, shape_inputs = array<i64: 2>}
// CHECK:       relay.shape_func @shape_func_nn_relu(%x_shape: tensor<2xi64>) -> tensor<2xi64> {
// CHECK-NEXT:    relay.yield %x_shape
// CHECK-NEXT:  }
relay.prim_func @same(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = relay.nn.relu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  relay.yield %0 : tensor<?x4xf32>
}

// -----

// A rule's arithmetic becomes arithmetic on i64, with its known part folded; a check that needs run
// time becomes an op whose message names the operator and the types of its operands.
//
// CHECK-LABEL: relay.prim_func @arithmetic
// CHECK:       relay.shape_func @shape_func_nn_conv2d(%x_shape: tensor<4xi64>) -> tensor<4xi64> {
// CHECK:         %[[H:.*]] = tensor.extract %x_shape[%i2] : tensor<4xi64>
// CHECK:         %[[PADDED:.*]] = arith.addi %[[H]], %c2 : i64
// CHECK:         %[[N:.*]] = tensor.extract %x_shape[%i0] : tensor<4xi64>
// CHECK-NEXT:    relay.require at_most %c3, %[[PADDED]], "relay.nn.conv2d of tensor<{2}x3x{3}x8xf32> and tensor<4x3x3x3xf32>: the dilated window's height must be at most that of the padded data, {1}, but is {0}"(%[[N]], %[[H]])
// CHECK:         %[[LEFT:.*]] = arith.addi %[[H]], %{{.*}} : i64
// CHECK-NEXT:    %[[STEPS:.*]] = arith.floordivsi %[[LEFT]], %c2 : i64
// CHECK:         %[[OUT:.*]] = arith.addi %[[STEPS]], %c1 : i64
// CHECK:         %[[SHAPE:.*]] = tensor.from_elements %[[N]], %c4, %[[OUT]], %c8 : tensor<4xi64>
// CHECK-NEXT:    relay.yield %[[SHAPE]]
relay.prim_func @arithmetic(%x: tensor<?x3x?x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<?x4x?x8xf32> {
  %0 = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 1>} : (tensor<?x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x8xf32>
  relay.yield %0 : tensor<?x4x?x8xf32>
}

// -----

// Two unknown dims broadcast: one of them must be 1, or they are equal; the first wins unless it is 1.
//
// CHECK-LABEL: relay.prim_func @broadcast
// CHECK:       relay.shape_func @shape_func_add(
// CHECK:         %[[A:.*]] = tensor.extract %a_shape[%i0]
// CHECK:         %[[B:.*]] = tensor.extract %b_shape[%i0]
// CHECK:         relay.require broadcast %[[A]], %[[B]], "relay.add of tensor<{0}xf32> and tensor<{1}xf32>: dims {0} and {1} at axis -1 do not broadcast together"{{$}}
// CHECK:         %[[ONE:.*]] = arith.cmpi eq, %[[A]], %c1 : i64
// CHECK-NEXT:    %[[DIM:.*]] = arith.select %[[ONE]], %[[B]], %[[A]] : i64
// CHECK-NEXT:    tensor.from_elements %[[DIM]]
relay.prim_func @broadcast(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// A size that arithmetic cannot express is measured, on the elements of an argument.
//
// CHECK-LABEL: relay.prim_func @measured
// CHECK-SAME:    shape_inputs = array<i64: 1>
// CHECK:       relay.shape_func @shape_func_argwhere(%m: tensor<?x4xi1>) -> tensor<2xi64> {
// CHECK:         %[[N:.*]] = relay.measure "count_nonzero"(%m) : (tensor<?x4xi1>) -> i64
// CHECK:         tensor.from_elements %[[N]], %c2
relay.prim_func @measured(%m: tensor<?x4xi1>) -> tensor<?x2xi32> {
  %0 = relay.argwhere %m : (tensor<?x4xi1>) -> tensor<?x2xi32>
  relay.yield %0 : tensor<?x2xi32>
}

// -----

// A kernel of static shape has no shape function.
//
// CHECK-LABEL: relay.prim_func @static_shape
// CHECK-NOT:     shape_func
relay.prim_func @static_shape(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
