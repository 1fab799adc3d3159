// RUN: xrelay-opt -p create-shape-functions %s | filecheck %s

// A view keeps the number of elements; what the type of its result says besides is checked.
//
// CHECK:       relay.prim_func @declared({{.*}} attributes {shape_func = @shape_func_reshape
// CHECK:       relay.prim_func @inferred(%x: tensor<?x?xf32>) -> tensor<3x4xf32> {
// CHECK:       relay.shape_func @shape_func_reshape(%x_shape: tensor<2xi64>)
// CHECK:         relay.require eq %{{.*}}, %c3, "relay.reshape of tensor<{0}x{2}xf32>: dim 0 of result 0 is {0}, but is declared as {1}"
// CHECK:         relay.require eq %{{.*}}, %c4,
relay.prim_func @declared(%x: tensor<?x?xf32>) -> tensor<3x4xf32> {
  %y = relay.reshape %x {newshape = array<i64: 0, 0>} : (tensor<?x?xf32>) -> tensor<3x4xf32>
  relay.yield %y : tensor<3x4xf32>
}
relay.prim_func @inferred(%x: tensor<?x?xf32>) -> tensor<3x4xf32> {
  %y = relay.reshape %x {newshape = array<i64: 3, 4>} : (tensor<?x?xf32>) -> tensor<3x4xf32>
  relay.yield %y : tensor<3x4xf32>
}
func.func @main(%x: tensor<?x?xf32>) -> tensor<3x4xf32> {
  %y = relay.call_lowered @declared(%x) {reshape_only} : (tensor<?x?xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
