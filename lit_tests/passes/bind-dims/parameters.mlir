// RUN: xrelay-opt --split-input-file -p 'bind-dims{dims="n=2","y:1=5" shapes="z=?x7"},infer-types' %s | filecheck %s

// A name binds all dims of that name, a place and a shape one parameter; results follow.
//
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %x: tensor<2x3xf32>,
// CHECK-SAME:    %y: tensor<2x5xf32>,
// CHECK-SAME:    %z: tensor<?x7xf32> {relay.dims = ["m", 7 : i64]})
// CHECK-SAME:    -> (tensor<2x3xf32>, tensor<2x5xf32>, tensor<?x7xf32>)
func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]}, %y: tensor<?x?xf32> {relay.dims = ["n", ""]},
    %z: tensor<?x?xf32> {relay.dims = ["m", "k"]}) -> (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %a = relay.negative %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %b = relay.negative %y : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = relay.negative %z : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %a, %b, %c : tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// A place binds the other dims of its name too, and bounds of dims that are left stay.
//
// CHECK-LABEL: func.func @only(
// CHECK-SAME:    %y: tensor<5x5xf32>, %z: tensor<?x7xf32> {relay.dims = ["m", 7 : i64]}, %w: tensor<2xf32>) -> tensor<5x5xf32>
// CHECK-SAME:    attributes {relay.dim_bounds = {m = [1 : i64]}}
func.func @only(%y: tensor<?x?xf32> {relay.dims = ["k", "k"]}, %z: tensor<?x7xf32> {relay.dims = ["m", 7]},
    %w: tensor<?xf32> {relay.dims = ["n"]}) -> tensor<?x?xf32>
    attributes {relay.dim_bounds = {k = [1, 8], m = [1]}} {
  func.return %y : tensor<?x?xf32>
}

// -----

// What a call gets keeps its open type; other ops see the size.
//
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %x: tensor<2xf32>, %y: tensor<3x5xf32>, %z: tensor<4x7xf32>)
// CHECK-NEXT:    %[[OPEN:.*]] = relay.reshape %x {newshape = array<i64: 0>} : (tensor<2xf32>) -> tensor<?xf32>
// CHECK-NEXT:    relay.negative %x : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.call @f(%[[OPEN]]) : (tensor<?xf32>) -> tensor<?xf32>
func.func @main(%x: tensor<?xf32> {relay.dims = ["n"]}, %y: tensor<3x5xf32>, %z: tensor<4x7xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = relay.negative %x : (tensor<?xf32>) -> tensor<?xf32>
  %b = func.call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %a, %b : tensor<?xf32>, tensor<?xf32>
}
func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}

// -----

// A tuple follows its fields, unless a reference holds it; closures and branches are right, too.
//
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %[[OPEN:.*]] = relay.reshape %x
// CHECK:         relay.tuple %x, %y : (tensor<2xf32>, tensor<5x5xf32>) -> tuple<tensor<2xf32>, tensor<5x5xf32>>
// CHECK:         relay.ref_create %[[OPEN]] :
// CHECK:         relay.call %f(%[[OPEN]]) :
func.func @main(%x: tensor<?xf32> {relay.dims = ["n"]}, %y: tensor<5x?xf32>, %z: tensor<4x7xf32>, %p: tensor<i1>) -> (tensor<?xf32>, tensor<?xf32>) {
  %t = relay.tuple %x, %y : (tensor<?xf32>, tensor<5x?xf32>) -> tuple<tensor<?xf32>, tensor<5x?xf32>>
  %a = relay.tuple_get_item %t[0] : (tuple<tensor<?xf32>, tensor<5x?xf32>>) -> tensor<?xf32>
  %r = relay.ref_create %x : (tensor<?xf32>) -> !relay.ref<tensor<?xf32>>
  %f = relay.fn (%v: tensor<?xf32>) -> tensor<?xf32> {
    relay.yield %v : tensor<?xf32>
  }
  %b = relay.call %f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %a, %b : tensor<?xf32>, tensor<?xf32>
}
