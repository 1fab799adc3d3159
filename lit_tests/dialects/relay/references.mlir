// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A cell is made, read and written.
//
// CHECK-LABEL: @cell
// CHECK:         %r = relay.ref_create %x {note} : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
// CHECK-NEXT:    %y = relay.ref_read %r {note} : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT:    %u = relay.ref_write %r, %y {note} : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
func.func @cell(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.ref_create %x {note} : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %y = relay.ref_read %r {note} : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  %u = relay.ref_write %r, %y {note} : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  func.return %y : tensor<4xf32>
}

// A cell holds anything: cells, functions, tuples; it is where its contents are.
//
// CHECK-LABEL: @holds
// CHECK-SAME:    %a: !relay.ref<!relay.ref<tensor<4xf32, #cpu0>>>
// CHECK-SAME:    %b: !relay.ref<(tensor<i32>) -> tensor<i32>>
// CHECK-SAME:    %c: !relay.ref<tuple<tensor<i32>, tensor<i32>>>
func.func @holds(
  %a: !relay.ref<!relay.ref<tensor<4xf32, #relay.device<cpu:0>>>>,
  %b: !relay.ref<(tensor<i32>) -> tensor<i32>>,
  %c: !relay.ref<tuple<tensor<i32>, tensor<i32>>>
) {
  func.return
}
