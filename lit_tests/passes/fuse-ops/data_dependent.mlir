// RUN: xrelay-opt --split-input-file -p fuse-ops %s | filecheck %s

// An operator whose result shape depends on data is a primitive of its own.
//
// CHECK-LABEL: @alone
// CHECK:         relay.primitive({{.*}}) -> (tensor<?xf32>) {
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK:         relay.primitive(
// CHECK-NEXT:      relay.dyn.tile
// CHECK-NEXT:      relay.yield
// CHECK:         relay.primitive(
// CHECK-NEXT:      relay.tanh
// CHECK-NEXT:      relay.yield
func.func @alone(%x: tensor<?xf32>, %n: tensor<1xi64>) -> tensor<?xf32> {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = relay.dyn.tile %0, %n : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %2 = relay.tanh %1 : (tensor<?xf32>) -> tensor<?xf32>
  func.return %2 : tensor<?xf32>
}

// -----

// With a result of static shape it is an ordinary operator.
//
// CHECK-LABEL: @static_shape
// CHECK:         relay.primitive(
// CHECK-NEXT:      relay.dyn.tile
// CHECK-NEXT:      relay.tanh
// CHECK-NEXT:      relay.yield
func.func @static_shape(%x: tensor<2xf32>, %n: tensor<1xi64>) -> tensor<4xf32> {
  %1 = relay.dyn.tile %x, %n : (tensor<2xf32>, tensor<1xi64>) -> tensor<4xf32>
  %2 = relay.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// An operator that only reshapes is fused with other reshapes, but never with what computes its
// shape; the primitive is a view of its first argument.
//
// CHECK-LABEL: @reshapes
// CHECK:         %[[S:.*]] = relay.primitive({{.*}} = %s : {{.*}}, {{.*}} = %t : {{.*}}) -> (tensor<2xi64>) {
// CHECK-NEXT:      relay.concatenate
// CHECK-NEXT:      relay.yield
// CHECK:         relay.primitive({{.*}} = %x : {{.*}}, {{.*}} = %[[S]] : {{.*}}) -> (tensor<1x?x?xf32>) attributes {reshape_only} {
// CHECK-NEXT:      relay.expand_dims
// CHECK-NEXT:      relay.dyn.reshape
// CHECK-NEXT:      relay.expand_dims
// CHECK-NEXT:      relay.yield
func.func @reshapes(%x: tensor<?xf32>, %s: tensor<1xi64>, %t: tensor<1xi64>) -> tensor<1x?x?xf32> {
  %0 = relay.concatenate %s, %t {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %1 = relay.expand_dims %x {axis = 0} : (tensor<?xf32>) -> tensor<1x?xf32>
  %2 = relay.dyn.reshape %1, %0 {allowzero = false} : (tensor<1x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %3 = relay.expand_dims %2 {axis = 0} : (tensor<?x?xf32>) -> tensor<1x?x?xf32>
  func.return %3 : tensor<1x?x?xf32>
}

// -----

// A shape of constants is an argument; a scalar that says where moves inside. Both are views.
//
// CHECK-LABEL: @constants
// CHECK:         relay.primitive({{.*}} = %x : {{.*}}, {{.*}} = %s : {{.*}}) -> (tensor<?x?xf32>) attributes {reshape_only} {
// CHECK:         relay.primitive({{.*}} = %{{.*}} : tensor<?x?xf32>) -> (tensor<?x?x?xf32>) attributes {reshape_only} {
// CHECK-NEXT:      %[[AT:.*]] = relay.constant dense<1>
// CHECK-NEXT:      relay.dyn.expand_dims %{{.*}}, %[[AT]]
func.func @constants(%x: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?x?xf32>) {
  %s = relay.constant dense<[2, -1]> : tensor<2xi64>
  %at = relay.constant dense<1> : tensor<i64>
  %0 = relay.dyn.reshape %x, %s {allowzero = false} : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.expand_dims %0, %at {num_newaxis = 1} : (tensor<?x?xf32>, tensor<i64>) -> tensor<?x?x?xf32>
  func.return %0, %1 : tensor<?x?xf32>, tensor<?x?x?xf32>
}

// -----

// A scalar constant that is reshaped moves inside too, so nothing is left to view.
//
// CHECK-LABEL: @scalar
// CHECK:         relay.primitive({{.*}} = %s : {{.*}}) -> (tensor<?x?xf32>) {
// CHECK-NEXT:      relay.constant
// CHECK-NEXT:      relay.dyn.reshape
func.func @scalar(%s: tensor<2xi64>) -> tensor<?x?xf32> {
  %x = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.dyn.reshape %x, %s {allowzero = false} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}
