// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// An operator that the dialect does not have is called by its name, with attributes of any kind.
//
// CHECK-LABEL: @call
// CHECK:         %y = relay.call_opaque "nn.fancy"(%x) {depth = 3 : i64, mode = "wide", seed = none} attributes {test.note} : (tensor<4xf32>) -> tensor<?xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<?xf32> {
  %y = relay.call_opaque "nn.fancy"(%x) {depth = 3 : i64, mode = "wide", seed = none} attributes {test.note} : (tensor<4xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// Brackets hold the fields of a tuple; an operator may take nothing, and give several results.
//
// CHECK-LABEL: @tuples
// CHECK:         %a, %b = relay.call_opaque "meshgrid"((%x, %y)) : (tensor<4xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
// CHECK-NEXT:    %c = relay.call_opaque "joined"((), %x, (%y), (%a, %b)) : (tensor<4xf32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<f32>
// CHECK-NEXT:    %d = relay.call_opaque "seed"() : () -> tensor<i64>
func.func @tuples(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<f32> {
  %a, %b = relay.call_opaque "meshgrid"((%x, %y)) : (tensor<4xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %c = relay.call_opaque "joined"((), %x, (%y), (%a, %b)) : (tensor<4xf32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<f32>
  %d = relay.call_opaque "seed"() : () -> tensor<i64>
  func.return %c : tensor<f32>
}
