// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Both regions yield what the op gives, and see the values above.
//
// CHECK-LABEL: @if
// CHECK:         relay.if %c : tensor<i1> -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:      relay.yield %a, %b : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[Y:.*]] = relay.nn.relu %a
// CHECK-NEXT:      relay.yield %[[Y]], %[[Y]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    } {note}
func.func @if(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
  %r:2 = relay.if %c : tensor<i1> -> (tensor<4xf32>, tensor<4xf32>) {
    relay.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  } else {
    %y = relay.nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %y, %y : tensor<4xf32>, tensor<4xf32>
  } {note}
  func.return
}

// -----

// Regions that yield nothing may be empty in text.
//
// CHECK-LABEL: @nothing
// CHECK:         relay.if %c : tensor<i1> {
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
func.func @nothing(%c: tensor<i1>) {
  relay.if %c : tensor<i1> {
  } else {
  }
  func.return
}
