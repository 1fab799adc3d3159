// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A function that is a result is in parentheses.
//
// CHECK-LABEL: @function_results
// CHECK-NEXT:    %[[F:.*]] = relay.tuple_get_item %t[0] : (tuple<(tensor<f32>) -> tensor<f32>>) -> ((tensor<f32>) -> tensor<f32>)
// CHECK-NEXT:    %[[G:.*]] = relay.on_device %[[F]], #cpu0 : ((tensor<f32>) -> tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
// CHECK-NEXT:    %[[R:.*]] = relay.ref_create %[[G]] : ((tensor<f32>) -> tensor<f32>) -> !relay.ref<(tensor<f32>) -> tensor<f32>>
// CHECK-NEXT:    relay.ref_read %[[R]] : (!relay.ref<(tensor<f32>) -> tensor<f32>>) -> ((tensor<f32>) -> tensor<f32>)
func.func @function_results(%t: tuple<(tensor<f32>) -> tensor<f32>>) -> ((tensor<f32>) -> tensor<f32>) {
  %f = relay.tuple_get_item %t[0] : (tuple<(tensor<f32>) -> tensor<f32>>) -> ((tensor<f32>) -> tensor<f32>)
  %g = relay.on_device %f, #relay.device<cpu:0> : ((tensor<f32>) -> tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
  %r = relay.ref_create %g : ((tensor<f32>) -> tensor<f32>) -> !relay.ref<(tensor<f32>) -> tensor<f32>>
  %h = relay.ref_read %r : (!relay.ref<(tensor<f32>) -> tensor<f32>>) -> ((tensor<f32>) -> tensor<f32>)
  func.return %h : (tensor<f32>) -> tensor<f32>
}
