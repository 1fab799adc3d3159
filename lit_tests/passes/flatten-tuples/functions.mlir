// RUN: xrelay-opt --split-input-file -p flatten-tuples %s | filecheck %s

// Parameters and results that are tuples, nested ones too, become their fields.
//
// CHECK-LABEL: @fields_of_signatures
// CHECK-SAME:    (%[[X:.*]]: tensor<i1>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<3xf32>) -> (tensor<3xf32>, tensor<i1>, tensor<3xf32>)
// CHECK-SAME:    attributes {relay.structure = {inputs = [{name = "x", fields = [-1 : i64]}, {name = "p", fields = [2 : i64, -1 : i64, 1 : i64, -1 : i64]}], outputs = [{name = "", fields = [-1 : i64]}, {name = "", fields = [2 : i64, -1 : i64, -1 : i64]}]}} {
// CHECK-NEXT:    func.return %[[B]], %[[X]], %[[B]] : tensor<3xf32>, tensor<i1>, tensor<3xf32>
func.func @fields_of_signatures(%x: tensor<i1>, %p: tuple<tensor<2xf32>, tuple<tensor<3xf32>>>) -> (tensor<3xf32>, tuple<tensor<i1>, tensor<3xf32>>) {
  %0 = relay.tuple_get_item %p[1] : (tuple<tensor<2xf32>, tuple<tensor<3xf32>>>) -> tuple<tensor<3xf32>>
  %b = relay.tuple_get_item %0[0] : (tuple<tensor<3xf32>>) -> tensor<3xf32>
  %r = relay.tuple %x, %b : (tensor<i1>, tensor<3xf32>) -> tuple<tensor<i1>, tensor<3xf32>>
  func.return %b, %r : tensor<3xf32>, tuple<tensor<i1>, tensor<3xf32>>
}

// -----

// The names of a parameter and a result number their fields; callers find what was there before.
//
// CHECK-LABEL: @names
// CHECK-SAME:    tensor<2xf32> {relay.name = "x.0"}, %{{.*}}: tensor<3xf32> {relay.name = "x.1"}
// CHECK-SAME:    -> (tensor<2xf32> {relay.name = "y.0"}, tensor<3xf32> {relay.name = "y.1"})
// CHECK-SAME:    attributes {relay.structure = {inputs = [{name = "x", fields = [2 : i64, -1 : i64, -1 : i64]}], outputs = [{name = "y", fields = [2 : i64, -1 : i64, -1 : i64]}]}}
func.func @names(%x: tuple<tensor<2xf32>, tensor<3xf32>> {relay.name = "x"}) -> (tuple<tensor<2xf32>, tensor<3xf32>> {relay.name = "y"}) {
  func.return %x : tuple<tensor<2xf32>, tensor<3xf32>>
}

// -----

// A call passes fields, and builds the tuple again where it is used as one.
//
// CHECK-LABEL: @calls
// CHECK:         %[[R:.*]], %[[S:.*]] = func.call @swap(%[[B:.*]], %[[A:.*]]) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    %[[T:.*]] = relay.tuple %[[R]], %[[S]]
// CHECK-NEXT:    "test.op"(%[[T]])
func.func @calls(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %t = relay.tuple %b, %a : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %r = func.call @swap(%t) : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  "test.op"(%r) : (tuple<tensor<2xf32>, tensor<2xf32>>) -> ()
  func.return
}
// CHECK:         func.func private @swap(tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
func.func private @swap(tuple<tensor<2xf32>, tensor<2xf32>>) -> tuple<tensor<2xf32>, tensor<2xf32>>

// -----

// A call that knows more dims than its function gets reshapes, which check them.
//
// CHECK-LABEL: @calls_with_dims
// CHECK:         %[[A:.*]] = relay.reshape %{{.*}} : (tensor<3xf32>) -> tensor<?xf32>
// CHECK:         %[[R:.*]] = func.call @pair(%[[A]], %{{.*}}) : (tensor<?xf32>, tensor<i1>) -> tensor<?xf32>
// CHECK:         %[[S:.*]] = relay.reshape %[[R]] {newshape = array<i64: 0>} : (tensor<?xf32>) -> tensor<3xf32>
// CHECK:         func.return %[[S]]
func.func @calls_with_dims(%a: tensor<3xf32>, %c: tensor<i1>) -> tensor<3xf32> {
  %t = relay.tuple %a, %c : (tensor<3xf32>, tensor<i1>) -> tuple<tensor<3xf32>, tensor<i1>>
  %r = relay.invoke @pair<[]>(%t) : (tuple<tensor<3xf32>, tensor<i1>>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}
func.func private @pair(%p: tuple<tensor<?xf32>, tensor<i1>>) -> tensor<?xf32> {
  %0 = relay.tuple_get_item %p[0] : (tuple<tensor<?xf32>, tensor<i1>>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// A function that is used as a value keeps its signature.
//
// CHECK-LABEL: @values
// CHECK:         relay.global @first : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
func.func @values() -> ((tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>) {
  %f = relay.global @first : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  func.return %f : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
}
// CHECK:       @first(%{{.*}}: tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
func.func private @first(%p: tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32> {
  %0 = relay.tuple_get_item %p[0] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
