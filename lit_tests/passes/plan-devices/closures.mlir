// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// An argument with a hint on both sides holds the parameter, and the result that is computed from it.
//
// CHECK-LABEL: func.func @closure_argument_fixed
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %[[B:.*]] = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @closure_argument_fixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %hint = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %f(%hint) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A hint on an argument says nothing about the parameter: the argument is copied.
//
// CHECK-LABEL: func.func @closure_argument_hinted
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %f = relay.fn (%a: [[GPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %a : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %[[B:.*]] = relay.device_copy %x : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.call %f(%[[B]]) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @closure_argument_hinted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %hint = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %f(%hint) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// Another name for a closure is the same closure.
//
// CHECK-LABEL: func.func @closure_by_two_names
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %u = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %[[C]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @closure_by_two_names(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %u = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A closure that is called where it stands is planned like one with a name.
//
// CHECK-LABEL: func.func @closure_called_where_it_stands
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.fn (%a: [[CPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[B:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[C]]
// CHECK:         %[[D:.*]] = relay.call %[[A]](%x) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @closure_called_where_it_stands(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %fn = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  }
  %call = relay.call %fn(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// Without a hint the closure joins what it captures and what it is given.
//
// CHECK-LABEL: func.func @closure_capture_joins
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.add %a, %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %[[B:.*]] = relay.call %f(%y) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @closure_capture_joins(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %add = relay.add %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  }
  %call = relay.call %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A captured variable stays where it is, and is copied where it is used.
//
// CHECK-LABEL: func.func @closure_capture
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[GPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.device_copy %x : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[B:.*]] = relay.add %a, %[[A]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %[[C:.*]] = relay.call %f(%y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @closure_capture(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %hint = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %a, %hint : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  }
  %call = relay.call %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// Closures between which an `if` chooses have one signature, on the device of the condition.
//
// CHECK-LABEL: func.func @closure_chosen_by_if
// CHECK-SAME:  (%c: tensor<i1, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.if %c : tensor<i1, #cpu0> -> (([[CPU]]) -> [[CPU]]) {
// CHECK-NEXT:      %[[A:.*]] = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:        %[[B:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[B]]
// CHECK:           relay.yield %[[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[C:.*]] = relay.fn (%b: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:        %[[D:.*]] = relay.tanh %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[D]]
// CHECK:           relay.yield %[[C]]
// CHECK:         %[[E:.*]] = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[F:.*]] = relay.device_copy %[[E]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[H:.*]] = relay.add %[[F]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[H]]
func.func @closure_chosen_by_if(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.if %c : tensor<i1> -> ((tensor<4xf32>) -> tensor<4xf32>) {
    %fn = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
      %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %exp : tensor<4xf32>
    }
    relay.yield %fn : (tensor<4xf32>) -> tensor<4xf32>
  } else {
    %fn_1 = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
      %tanh = relay.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %tanh : tensor<4xf32>
    }
    relay.yield %fn_1 : (tensor<4xf32>) -> tensor<4xf32>
  }
  %call = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A free hint on a closure joins its two sides as well.
//
// CHECK-LABEL: func.func @closure_hinted_freely
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %[[B:.*]] = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %[[C]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @closure_hinted_freely(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %g = relay.on_device %f, #relay.device<?> {constrain_body = false} : ((tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %call = relay.call %g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A hint on a closure says where its result is, and joins its two sides: a function cannot be copied.
//
// CHECK-LABEL: func.func @closure_hinted
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]], %y: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[GPU]], %b: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.device_copy %a : [[GPU]] to [[CPU]]
// CHECK-NEXT:      %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %[[C:.*]] = relay.call %f(%x, %y) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[C]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.add %[[D]], %x : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[E]]
func.func @closure_hinted(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %hint = relay.on_device %a, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  }
  %hint_1 = relay.on_device %f, #relay.device<cpu:0> : ((tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)
  %call = relay.call %hint_1(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint_2 = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_3 = relay.on_device %x, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add_1 = relay.add %hint_2, %hint_3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add_1 : tensor<4xf32>
}

// -----

// A closure in data is where the data is, with all its parts.
//
// CHECK-LABEL: func.func @closure_in_data
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[B:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %b = relay.construct @Boxed(%[[A]]) : {{.*}} -> !relay.adt<@Box, [], #cpu0>
// CHECK-NEXT:    %r = relay.match %b : !relay.adt<@Box, [], #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      case @Box::@Boxed(%f: ([[CPU]]) -> [[CPU]]) {
// CHECK-NEXT:        %[[C:.*]] = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[C]]
// CHECK:         %[[D:.*]] = relay.device_copy %r : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.add %[[D]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[E]]
relay.type_data @Box [@Boxed((tensor<4xf32>) -> tensor<4xf32>)]
func.func @closure_in_data(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %fn = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %b = relay.construct @Boxed(%fn) : ((tensor<4xf32>) -> tensor<4xf32>) -> !relay.adt<@Box, []>
  %r = relay.match %b : !relay.adt<@Box, []> -> (tensor<4xf32>) {
    case @Box::@Boxed(%f: (tensor<4xf32>) -> tensor<4xf32>) {
      %call = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %call : tensor<4xf32>
    }
  }
  %hint = relay.on_device %r, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Closures that a reference holds one after the other are on one device with all their parts.
//
// CHECK-LABEL: func.func @closure_in_reference
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[B:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %r = relay.ref_create %[[A]] : {{.*}} -> !relay.ref<([[CPU]]) -> [[CPU]]>
// CHECK-NEXT:    %[[C:.*]] = relay.fn (%b: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[D:.*]] = relay.tanh %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[D]]
// CHECK:         %u = relay.ref_write %r, %[[C]] : {{.*}} -> tuple<>
// CHECK-NEXT:    %f = relay.ref_read %r : {{.*}} -> (([[CPU]]) -> [[CPU]])
// CHECK-NEXT:    %[[E:.*]] = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[F:.*]] = relay.device_copy %[[E]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[H:.*]] = relay.add %[[F]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[H]]
func.func @closure_in_reference(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %fn = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %r = relay.ref_create %fn : ((tensor<4xf32>) -> tensor<4xf32>) -> !relay.ref<(tensor<4xf32>) -> tensor<4xf32>>
  %fn_1 = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> {
    %tanh = relay.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %tanh : tensor<4xf32>
  }
  %u = relay.ref_write %r, %fn_1 : (!relay.ref<(tensor<4xf32>) -> tensor<4xf32>>, (tensor<4xf32>) -> tensor<4xf32>) -> tuple<>
  %f = relay.ref_read %r : (!relay.ref<(tensor<4xf32>) -> tensor<4xf32>>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %call = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A closure in a tuple is on one device with all its parts, as the tuple is.
//
// CHECK-LABEL: func.func @closure_in_tuple
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[B:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %t = relay.tuple %[[A]], %y : {{.*}} -> tuple<([[CPU]]) -> [[CPU]], [[CPU]]>
// CHECK-NEXT:    %[[C:.*]] = relay.tuple_get_item %t[0] : {{.*}} -> (([[CPU]]) -> [[CPU]])
// CHECK-NEXT:    %[[D:.*]] = relay.call %[[C]](%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @closure_in_tuple(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %fn = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %t = relay.tuple %fn, %y : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tuple<(tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>>
  %field = relay.tuple_get_item %t[0] : (tuple<(tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %hint = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %field(%hint) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A closure has one signature for all its calls: a hint on one call reaches the others.
//
// CHECK-LABEL: func.func @closure_one_signature
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]], %z: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %u = relay.call %f(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %v = relay.call %f(%y) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %u : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %z : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @closure_one_signature(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %u = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.call %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %u, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A closure has a device for each parameter and one for its result; its calls bring arguments there.
//
// CHECK-LABEL: func.func @closure_signature
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn (%a: [[CPU]], %b: [[GPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK:         %[[C:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.call %f(%[[C]], %y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @closure_signature(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  }
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %call = relay.call %f(%exp, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A closure without parameters is where its result is.
//
// CHECK-LABEL: func.func @closure_without_parameters
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %f = relay.fn () -> [[CPU]] {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         %r = relay.call %f() : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %r : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @closure_without_parameters(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn () -> tensor<4xf32> {
    %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %hint : tensor<4xf32>
  }
  %r = relay.call %f() : () -> tensor<4xf32>
  %hint_1 = relay.on_device %r, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_1, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
