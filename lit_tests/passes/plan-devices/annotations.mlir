// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Callers bring their arguments to where the parameters of a function are annotated to be.
//
// CHECK-LABEL: func.func @callee
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %x : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
// CHECK-LABEL: func.func @annotated_callee
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %z = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = func.call @callee(%z, %y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[A]]
func.func @callee(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> (tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  %hint = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
func.func @annotated_callee(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %call = func.call @callee(%z, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// The annotated result of a closure is brought to its callers with a copy where they are hinted elsewhere.
//
// CHECK-LABEL: func.func @annotated_closure_result
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %r = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %r : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @annotated_closure_result(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> attributes {result_device = #relay.device<cpu:0>} {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %r, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %y, #relay.device<cuda:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Annotations of a closure hold as those of a global function.
//
// CHECK-LABEL: func.func @annotated_closure
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]], %b: [[GPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %[[C:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.call %f(%[[C]], %y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @annotated_closure(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {param_devices = [#relay.device<cpu:0>, #relay.device<?>], result_device = #relay.device<cuda:0>} {
    %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  }
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %f(%exp, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// The annotation of a parameter that is a function says where its result is.
//
// CHECK-LABEL: func.func @annotated_function_parameter
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%g: ([[GPU]]) -> [[CPU:tensor<4xf32, #cpu0>]], %a: [[GPU]]) -> [[GPU]] {
// CHECK-NEXT:      %r = relay.call %g(%a) : {{.*}} -> [[CPU]]
// CHECK-NEXT:      %[[A:.*]] = relay.device_copy %r : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[B:.*]] = relay.tanh %[[A]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %h = relay.fn (%b: [[GPU]]) -> [[CPU]] {
// CHECK-NEXT:      %c = relay.exp %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:      %[[C:.*]] = relay.device_copy %c : [[GPU]] to [[CPU]]
// CHECK-NEXT:      relay.yield %[[C]]
// CHECK:         %[[D:.*]] = relay.call %f(%h, %x) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @annotated_function_parameter(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%g: (tensor<4xf32>) -> tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> attributes {param_devices = [#relay.device<cpu:0>, #relay.device<?>]} {
    %r = relay.call %g(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %hint = relay.on_device %r, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %tanh = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %tanh : tensor<4xf32>
  }
  %h = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
    %c = relay.exp %b : (tensor<4xf32>) -> tensor<4xf32>
    %hint_1 = relay.on_device %c, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %hint_1 : tensor<4xf32>
  }
  %call = relay.call %f(%h, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// An annotated parameter is where it says; the hint-free rest follows it.
//
// CHECK-LABEL: func.func @annotated_parameter
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %z = relay.exp %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @annotated_parameter(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %exp, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A hint at the end brings the result from elsewhere to where the function is annotated to give it.
//
// CHECK-LABEL: func.func @annotated_result_from_elsewhere
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %z = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %z : [[CPU]] to [[GPU]]
// CHECK-NEXT:    func.return %[[A]]
func.func @annotated_result_from_elsewhere(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  %z = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %z, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint : tensor<4xf32>
}

// -----

// An annotated result is where it says; parameters that nothing is said about follow it.
//
// CHECK-LABEL: func.func @annotated_result
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[A]]
func.func @annotated_result(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #relay.device<cpu:0>}) {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %exp : tensor<4xf32>
}
