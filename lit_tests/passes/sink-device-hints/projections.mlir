// RUN: xrelay-opt --split-input-file -p sink-device-hints %s | filecheck %s

// The field that is used is hinted, not the tuple.
//
// CHECK-LABEL: func.func @projection
// CHECK-NEXT:    %[[I:.*]] = relay.tuple_get_item %t[0]
// CHECK-NEXT:    %[[H:.*]] = relay.on_device %[[I]], #cpu0 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %[[H]]
func.func @projection(%t: tuple<tensor<4xf32>, tensor<9xf32>>) -> tensor<4xf32> {
  %h = relay.on_device %t, #relay.device<cpu:0> : (tuple<tensor<4xf32>, tensor<9xf32>>) -> tuple<tensor<4xf32>, tensor<9xf32>>
  %i = relay.tuple_get_item %h[0] : (tuple<tensor<4xf32>, tensor<9xf32>>) -> tensor<4xf32>
  func.return %i : tensor<4xf32>
}

// -----

// A hint that constrains its result stays.
//
// CHECK-LABEL: func.func @result_constrained
// CHECK-NEXT:    %[[H:.*]] = relay.on_device %t
// CHECK-NEXT:    relay.tuple_get_item %[[H]][0]
func.func @result_constrained(%t: tuple<tensor<4xf32>, tensor<9xf32>>) -> tensor<4xf32> {
  %h = relay.on_device %t, #relay.device<cpu:0> {constrain_result = true} : (tuple<tensor<4xf32>, tensor<9xf32>>) -> tuple<tensor<4xf32>, tensor<9xf32>>
  %i = relay.tuple_get_item %h[0] : (tuple<tensor<4xf32>, tensor<9xf32>>) -> tensor<4xf32>
  func.return %i : tensor<4xf32>
}
