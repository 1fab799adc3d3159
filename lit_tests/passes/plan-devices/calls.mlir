// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// A caller's constraint on a result constrains the function; the order of definitions does not matter.
//
// CHECK-LABEL: func.func @call_decides_callee
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = func.call @callee(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
// CHECK-LABEL: func.func @callee
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[A]]
func.func @call_decides_callee(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %call = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
func.func @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %exp : tensor<4xf32>
}

// -----

// A generic function has one signature for all its types, too.
//
// CHECK-LABEL: func.func @same
// CHECK-SAME:  (%a: !relay.type_var<A, #cpu0>) -> !relay.type_var<A, #cpu0>
// CHECK-NEXT:    func.return %a
// CHECK-LABEL: func.func @call_of_generic
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: tensor<8xf32, #cpu0>, %z: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %u = relay.invoke @same<[tensor<4xf32>]>(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %v = relay.invoke @same<[tensor<8xf32>]>(%y) : {{.*}} -> tensor<8xf32, #cpu0>
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %u : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %z : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @same(%a: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %a : !relay.type_var<A>
}
func.func @call_of_generic(%x: tensor<4xf32>, %y: tensor<8xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %u = relay.invoke @same<[tensor<4xf32>]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.invoke @same<[tensor<8xf32>]>(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %hint = relay.on_device %u, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A call of a global function brings its arguments to where the parameters are.
//
// CHECK-LABEL: func.func @callee
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
// CHECK-LABEL: func.func @call_of_global
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = func.call @callee(%[[A]], %y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @callee(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
func.func @call_of_global(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %call = func.call @callee(%exp, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A hint on a global function as a value constrains the function.
//
// CHECK-LABEL: func.func @callee
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[A]]
// CHECK-LABEL: func.func @call_through_a_hinted_value
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %g = relay.global @callee : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %y = relay.call %g(%x, %x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %y : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.tanh %[[A]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @callee(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %hint = relay.on_device %a, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
func.func @call_through_a_hinted_value(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = relay.global @callee : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %g, #relay.device<cpu:0> {constrain_result = true} : ((tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)
  %y = relay.call %hint(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %y, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %tanh = relay.tanh %hint_1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %tanh : tensor<4xf32>
}

// -----

// A global function as a value has the signature of the function.
//
// CHECK-LABEL: func.func @callee
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[A]]
// CHECK-LABEL: func.func @call_through_a_value
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %g = relay.global @callee : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.call %g(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %exp : tensor<4xf32>
}
func.func @call_through_a_value(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %g = relay.global @callee : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Captured values are where the first parameters of the function are, and the closure has its others.
//
// CHECK-LABEL: func.func @callee
// CHECK-SAME:  (%k: [[GPU:tensor<4xf32, #cuda0>]], %a: [[GPU]]) -> [[GPU]]
// CHECK-LABEL: func.func @call_a_closure_of_a_function
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]], %y: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU]]
// CHECK-NEXT:    %g = relay.closure @callee(%x) : ([[GPU]]) -> (([[GPU]]) -> [[GPU]])
// CHECK-NEXT:    %[[Y:.*]] = relay.device_copy %y : [[CPU]] to [[GPU]]
// CHECK-NEXT:    relay.call %g(%[[Y]]) : ([[GPU]]) -> [[GPU]]
func.func @callee(%k: tensor<4xf32>, %a: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  %add = relay.add %k, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
func.func @call_a_closure_of_a_function(%x: tensor<4xf32>, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %g = relay.closure @callee(%x) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %hint = relay.on_device %y, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %g(%hint) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}
