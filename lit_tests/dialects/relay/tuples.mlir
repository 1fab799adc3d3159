// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Tuples hold any values, tuples too, and none; projections name a field.
//
// CHECK-LABEL: @tuples
// CHECK:         %[[T:.*]] = relay.tuple %a, %b : (tensor<4xf32>, tensor<2xi32>) -> tuple<tensor<4xf32>, tensor<2xi32>>
// CHECK:         %[[N:.*]] = relay.tuple %[[T]], %a {note} : (tuple<tensor<4xf32>, tensor<2xi32>>, tensor<4xf32>) -> tuple<tuple<tensor<4xf32>, tensor<2xi32>>, tensor<4xf32>>
// CHECK:         relay.tuple : () -> tuple<>
// CHECK:         relay.tuple_get_item %[[T]][1] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
// CHECK:         relay.tuple_get_item %[[N]][0] {note} : ({{.*}}) -> tuple<tensor<4xf32>, tensor<2xi32>>
// CHECK:         relay.tuple %a, %a : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
func.func @tuples(%a: tensor<4xf32>, %b: tensor<2xi32>) {
  %t = relay.tuple %a, %b : (tensor<4xf32>, tensor<2xi32>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  %n = relay.tuple %t, %a {note} : (tuple<tensor<4xf32>, tensor<2xi32>>, tensor<4xf32>) -> tuple<tuple<tensor<4xf32>, tensor<2xi32>>, tensor<4xf32>>
  %e = relay.tuple : () -> tuple<>
  %f = relay.tuple_get_item %t[1] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
  %g = relay.tuple_get_item %n[0] {note} : (tuple<tuple<tensor<4xf32>, tensor<2xi32>>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  %i = relay.tuple %a, %a : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}
