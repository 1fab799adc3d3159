// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// A function that is an argument has the signature of the parameter; applied twice, its parameter is where its result is.
//
// CHECK-LABEL: func.func @higher_order_argument
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %twice = relay.fn (%f: ([[CPU]]) -> [[CPU]], %a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.call %f(%a) : {{.*}} -> [[CPU]]
// CHECK-NEXT:      %[[B:.*]] = relay.call %f(%[[A]]) : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %g = relay.fn (%b: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[C:.*]] = relay.exp %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[C]]
// CHECK:         %[[D:.*]] = relay.call %twice(%g, %x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.device_copy %[[D]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[F:.*]] = relay.add %[[E]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[F]]
func.func @higher_order_argument(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %twice = relay.fn (%f: (tensor<4xf32>) -> tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
    %call = relay.call %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %call_1 = relay.call %f(%call) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %call_1 : tensor<4xf32>
  }
  %g = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %b : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %call_2 = relay.call %twice(%g, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call_2, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// What comes out of the first function goes into the second: the devices between are one.
//
// CHECK-LABEL: func.func @higher_order_composition
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %g = relay.fn (%b: [[CPU]]) -> [[GPU]] {
// CHECK-NEXT:      %c = relay.tanh %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:      %[[B:.*]] = relay.device_copy %c : [[CPU]] to [[GPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %h = relay.invoke @compose<[tensor<4xf32>, tensor<4xf32>, tensor<4xf32>]>(%g, %f) : {{.*}} -> (([[CPU]]) -> [[GPU]])
// CHECK-NEXT:    %[[C:.*]] = relay.call %h(%x) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @compose(%f: (!relay.type_var<B>) -> !relay.type_var<C>, %g: (!relay.type_var<A>) -> !relay.type_var<B>) -> ((!relay.type_var<A>) -> !relay.type_var<C>) attributes {relay.type_params = ["A", "B", "C"]} {
  %fn = relay.fn (%x: !relay.type_var<A>) -> !relay.type_var<C> {
    %call = relay.call %g(%x) : (!relay.type_var<A>) -> !relay.type_var<B>
    %call_1 = relay.call %f(%call) : (!relay.type_var<B>) -> !relay.type_var<C>
    relay.yield %call_1 : !relay.type_var<C>
  }
  func.return %fn : (!relay.type_var<A>) -> !relay.type_var<C>
}
func.func @higher_order_composition(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %g = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
    %c = relay.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
    %hint = relay.on_device %c, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %hint : tensor<4xf32>
  }
  %h = relay.invoke @compose<[tensor<4xf32>, tensor<4xf32>, tensor<4xf32>]>(%g, %f) : ((tensor<4xf32>) -> tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %call = relay.call %h(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A function that is a parameter of the program is annotated with the device of its result.
//
// CHECK-LABEL: func.func @higher_order_entry
// CHECK-SAME:  (%f: ([[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]], %x: [[CPU]]) -> [[GPU]]
// CHECK-NEXT:    %y = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.call %f(%y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.tanh %[[A]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @higher_order_entry(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %y, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %f(%hint) : (tensor<4xf32>) -> tensor<4xf32>
  %tanh = relay.tanh %call : (tensor<4xf32>) -> tensor<4xf32>
  func.return %tanh : tensor<4xf32>
}

// -----

// The signature of a closure that a global function takes follows its parameter's type.
//
// CHECK-LABEL: func.func @apply
// CHECK-SAME:  (%f: ([[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]], %a: [[CPU]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.call %f(%a) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[A]]
// CHECK-LABEL: func.func @higher_order_global
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.fn (%b: [[CPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[B:.*]] = relay.device_copy %b : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[C]]
// CHECK:         %[[D:.*]] = func.call @apply(%[[A]], %x) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @apply(%f: (tensor<4xf32>) -> tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %call = relay.call %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}
func.func @higher_order_global(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %fn = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
    %hint = relay.on_device %b, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  }
  %call = func.call @apply(%fn, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A `let` whose value is a function from a call says where it is, and so where its results are.
//
// CHECK-LABEL: func.func @higher_order_result_elsewhere
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]], %z: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> ([[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.fn (%b: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:        %[[B:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[B]]
// CHECK:           relay.yield %[[A]]
// CHECK:         %g = relay.call %f(%x) : {{.*}} -> (([[CPU]]) -> [[CPU]])
// CHECK-NEXT:    %[[C:.*]] = relay.call %g(%y) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[C]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.add %[[D]], %z : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[E]]
func.func @higher_order_result_elsewhere(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> (tensor<4xf32>) -> tensor<4xf32> {
    %fn = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
      %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %add : tensor<4xf32>
    }
    relay.yield %fn : (tensor<4xf32>) -> tensor<4xf32>
  }
  %g = relay.call %f(%x) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %call = relay.call %g(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add_1 = relay.add %hint, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add_1 : tensor<4xf32>
}

// -----

// A closure that a function gives takes its parameter from where its calls bring it.
//
// CHECK-LABEL: func.func @higher_order_result
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> ([[GPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.fn (%b: [[GPU]]) -> [[GPU]] {
// CHECK-NEXT:        %[[B:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:        %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:        relay.yield %[[C]]
// CHECK:           relay.yield %[[A]]
// CHECK:         %g = relay.call %f(%x) : {{.*}} -> (([[GPU]]) -> [[GPU]])
// CHECK-NEXT:    %[[D:.*]] = relay.call %g(%y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @higher_order_result(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> (tensor<4xf32>) -> tensor<4xf32> {
    %fn = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
      %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
      %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %add : tensor<4xf32>
    }
    relay.yield %fn : (tensor<4xf32>) -> tensor<4xf32>
  }
  %g = relay.call %f(%x) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %call = relay.call %g(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A device travels through two function values: %y is on the CPU because the inner closure's parameter is.
//
// CHECK-LABEL: func.func @higher_order
// CHECK-SAME:  (%x: [[GPU:tensor<5x7xf32, #cuda0>]], %y: [[CPU:tensor<5x7xf32, #cpu0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%g: ([[GPU]]) -> [[GPU]]) -> ([[CPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.fn (%a: [[CPU]]) -> [[GPU]] {
// CHECK-NEXT:        %[[B:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:        %[[C:.*]] = relay.call %g(%[[B]]) : {{.*}} -> [[GPU]]
// CHECK-NEXT:        %[[D:.*]] = relay.add %[[C]], %x : {{.*}} -> [[GPU]]
// CHECK-NEXT:        relay.yield %[[D]]
// CHECK:           relay.yield %[[A]]
// CHECK:         %h = relay.fn (%b: [[GPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[E:.*]] = relay.negative %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[E]]
// CHECK:         %[[F:.*]] = relay.call %f(%h) : {{.*}} -> (([[CPU]]) -> [[GPU]])
// CHECK-NEXT:    %[[H:.*]] = relay.call %[[F]](%y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[I:.*]] = relay.subtract %x, %[[H]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[I]]
func.func @higher_order(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %f = relay.fn (%g: (tensor<5x7xf32>) -> tensor<5x7xf32>) -> (tensor<5x7xf32>) -> tensor<5x7xf32> {
    %fn = relay.fn (%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<5x7xf32>) -> tensor<5x7xf32>
      %call = relay.call %g(%hint) : (tensor<5x7xf32>) -> tensor<5x7xf32>
      %add = relay.add %call, %x : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
      relay.yield %add : tensor<5x7xf32>
    }
    relay.yield %fn : (tensor<5x7xf32>) -> tensor<5x7xf32>
  }
  %h = relay.fn (%b: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %negative = relay.negative %b : (tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %negative : tensor<5x7xf32>
  }
  %call_1 = relay.call %f(%h) : ((tensor<5x7xf32>) -> tensor<5x7xf32>) -> ((tensor<5x7xf32>) -> tensor<5x7xf32>)
  %call_2 = relay.call %call_1(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %subtract = relay.subtract %x, %call_2 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %subtract : tensor<5x7xf32>
}
