// RUN: xrelay-opt -p create-shape-functions %s | filecheck %s

// A reshape may copy a dim with 0 and infer one with -1, before it or after it.
//
// CHECK-LABEL: relay.shape_func @shape_func_reshape(
// CHECK:         %[[N:.*]] = tensor.extract %x_shape[%i0]
// CHECK:         %[[M:.*]] = tensor.extract %x_shape[%i1]
// CHECK:         %[[LAST:.*]] = arith.muli %[[M]], %c4
// CHECK-NEXT:    tensor.from_elements %[[N]], %[[LAST]]
// CHECK-LABEL: relay.shape_func @shape_func_reshape_1(
// CHECK:         %[[M:.*]] = tensor.extract %x_shape[%i2]
// CHECK:         %[[FIRST:.*]] = arith.muli %[[M]], %c2
// CHECK:         %[[N:.*]] = tensor.extract %x_shape[%i1]
// CHECK-NEXT:    tensor.from_elements %[[FIRST]], %[[N]]
relay.prim_func @copy_and_infer(%x: tensor<?x?x4xf32>) -> tensor<?x?xf32> {
  %0 = relay.reshape %x {newshape = array<i64: 0, -1>} : (tensor<?x?x4xf32>) -> tensor<?x?xf32>
  relay.yield %0 : tensor<?x?xf32>
}
relay.prim_func @infer_and_copy(%x: tensor<2x?x?xf32>) -> tensor<?x?xf32> {
  %0 = relay.reshape %x {newshape = array<i64: -1, 0>} : (tensor<2x?x?xf32>) -> tensor<?x?xf32>
  relay.yield %0 : tensor<?x?xf32>
}

// The shape of a copied scalar is empty, not unset.
//
// CHECK-LABEL: relay.shape_func @shape_func_copy_copy(%y_shape: tensor<1xi64>)
// CHECK-NEXT:    %[[SCALAR:.*]] = tensor.from_elements : tensor<0xi64>
// CHECK-NEXT:    relay.yield %[[SCALAR]], %y_shape
relay.prim_func @copies(%x: tensor<f32>, %y: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>) {
  %0 = relay.copy %x : (tensor<f32>) -> tensor<f32>
  %1 = relay.copy %y : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0, %1 : tensor<f32>, tensor<?xf32>
}

// An axis to squeeze may be counted from the end.
//
// CHECK-LABEL: relay.shape_func @shape_func_squeeze(
// CHECK:         %[[N:.*]] = tensor.extract %x_shape[%i0]
// CHECK-NEXT:    tensor.from_elements %[[N]] : tensor<1xi64>
relay.prim_func @squeeze(%x: tensor<?x1xf32>) -> tensor<?xf32> {
  %0 = relay.squeeze %x {axis = array<i64: -1>} : (tensor<?x1xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// A pool knows its dilation and its rounding: a window of 2 dilated by 2 covers 3 elements, and
// ceil((h - 3) / 2) is floor((h - 2) / 2).
//
// CHECK-LABEL: relay.shape_func @shape_func_nn_max_pool2d(
// CHECK:         %[[H:.*]] = tensor.extract %x_shape[%i2]
// CHECK:         relay.require at_most %c3, %[[H]]
// CHECK:         %[[MINUS:.*]] = arith.constant -2 : i64
// CHECK-NEXT:    %[[SPAN:.*]] = arith.addi %[[H]], %[[MINUS]]
// CHECK:         %[[STEPS:.*]] = arith.floordivsi %[[SPAN]], %c2
// CHECK-NEXT:    arith.addi %[[STEPS]], %c1
relay.prim_func @pool(%x: tensor<1x1x?x?xf32>) -> tensor<1x1x?x?xf32> {
  %0 = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilation = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x1x?x?xf32>) -> tensor<1x1x?x?xf32>
  relay.yield %0 : tensor<1x1x?x?xf32>
}

// Batches broadcast.
//
// CHECK-LABEL: relay.shape_func @shape_func_nn_batch_matmul(
// CHECK:         relay.require broadcast %[[A:.*]], %[[B:.*]], "relay.nn.batch_matmul
// CHECK:         %[[BATCH:.*]] = arith.select %{{.*}}, %[[B]], %[[A]]
// CHECK:         tensor.from_elements %[[BATCH]], %c2, %c4
relay.prim_func @batch_matmul(%x: tensor<?x2x3xf32>, %y: tensor<?x4x3xf32>) -> tensor<?x2x4xf32> {
  %0 = relay.nn.batch_matmul %x, %y : (tensor<?x2x3xf32>, tensor<?x4x3xf32>) -> tensor<?x2x4xf32>
  relay.yield %0 : tensor<?x2x4xf32>
}

// Dims that are not concatenated must agree.
//
// CHECK-LABEL: relay.shape_func @shape_func_concatenate(
// CHECK:         relay.require eq %[[A:.*]], %{{.*}}, "relay.concatenate {{.*}}dim 0 of operand 1 must be {0}
// CHECK:         tensor.from_elements %[[A]],
relay.prim_func @concatenate(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = relay.concatenate %x, %y {axis = 1 : i64} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  relay.yield %0 : tensor<?x?xf32>
}

// A transposed operand of a product has its other dim in the result.
//
// CHECK-LABEL: relay.shape_func @shape_func_nn_matmul(
// CHECK:         %[[M:.*]] = tensor.extract %x_shape[%i1]
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %y_shape[%i1]
// CHECK:         tensor.from_elements %[[M]], %[[N]]
relay.prim_func @matmul(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = relay.nn.matmul %x, %y {transpose_a = true} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  relay.yield %0 : tensor<?x?xf32>
}
