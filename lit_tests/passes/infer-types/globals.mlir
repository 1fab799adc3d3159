// RUN: xrelay-opt --split-input-file -p infer-types %s | filecheck %s

// The type of a global function as a value is that of the function.
//
// CHECK-LABEL: @global_function
// CHECK:         %[[F:.*]] = relay.global @f : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:         relay.call %[[F]](%x) : (tensor<4xf32>) -> tensor<4xf32>
func.func @global_function(%x: tensor<4xf32>) -> !relay.incomplete<1> {
  %f = relay.global @f : (!relay.incomplete<0>) -> !relay.incomplete<1>
  %y = relay.call %f(%x) : (tensor<4xf32>) -> !relay.incomplete<1>
  func.return %y : !relay.incomplete<1>
}
func.func @f(%a: tensor<4xf32>) -> !relay.incomplete {
  %b = relay.nn.relu %a : (tensor<4xf32>) -> !relay.incomplete
  func.return %b : !relay.incomplete
}

// -----

// A closure of a generic function has the parameters that are not captured.
//
// CHECK-LABEL: @generic_closure
// CHECK:         relay.closure @first<[tensor<i1>]>(%k) : (tensor<f32>) -> ((tensor<i1>) -> tensor<f32>)
func.func @generic_closure(%k: tensor<f32>) -> ((!relay.incomplete<0>) -> !relay.incomplete<1>) {
  %g = relay.closure @first<[tensor<i1>]>(%k) : (tensor<f32>) -> ((!relay.incomplete<0>) -> !relay.incomplete<1>)
  func.return %g : (!relay.incomplete<0>) -> !relay.incomplete<1>
}
func.func @first(%k: tensor<f32>, %a: !relay.type_var<A>) -> tensor<f32> attributes {relay.type_params = ["A"]} {
  func.return %k : tensor<f32>
}
