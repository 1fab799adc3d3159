// RUN: xrelay-opt --split-input-file -p fuse-ops %s | filecheck %s

// A primitive that only reshapes is marked.
//
// CHECK-LABEL: @only_reshapes
// CHECK-NEXT:    relay.primitive({{.*}}) -> (tensor<1x8xf32>) attributes {reshape_only} {
// CHECK-NEXT:      relay.reshape
// CHECK-NEXT:      relay.expand_dims
// CHECK-NEXT:      relay.yield
func.func @only_reshapes(%x: tensor<2x4xf32>) -> tensor<1x8xf32> {
  %a = relay.reshape %x {newshape = array<i64: 8>} : (tensor<2x4xf32>) -> tensor<8xf32>
  %b = relay.expand_dims %a {axis = 0} : (tensor<8xf32>) -> tensor<1x8xf32>
  func.return %b : tensor<1x8xf32>
}

// -----

// One that also computes or rearranges is not marked.
//
// CHECK-LABEL: @also_computes
// CHECK-NEXT:    relay.primitive({{.*}}) -> (tensor<8xf32>) {
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.reshape
// CHECK:         relay.primitive({{.*}}) -> (tensor<4x2xf32>) {
// CHECK-NEXT:      relay.transpose
func.func @also_computes(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<4x2xf32>) {
  %a = relay.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = relay.reshape %a {newshape = array<i64: 8>} : (tensor<2x4xf32>) -> tensor<8xf32>
  %c = relay.transpose %x : (tensor<2x4xf32>) -> tensor<4x2xf32>
  func.return %b, %c : tensor<8xf32>, tensor<4x2xf32>
}

// -----

// A reshape of a constant that moves inside has nothing to view.
//
// CHECK-LABEL: @constant_inside
// CHECK-NEXT:    relay.primitive() -> (tensor<1xf32>) {
// CHECK-NEXT:      relay.constant
// CHECK-NEXT:      relay.expand_dims
func.func @constant_inside() -> tensor<1xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %y = relay.expand_dims %c {axis = 0} : (tensor<f32>) -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}
