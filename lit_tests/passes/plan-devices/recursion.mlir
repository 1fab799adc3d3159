// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// A global function that calls itself is planned once for all its calls.
//
// CHECK-LABEL: func.func @recursion_global
// CHECK-SAME:  (%n: tensor<i32, #cpu0>, %x: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<0> : tensor<i32> on #cpu0
// CHECK-NEXT:    %[[B:.*]] = relay.equal %n, %[[A]] : {{.*}} -> tensor<i1, #cpu0>
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : tensor<i1, #cpu0> to tensor<i1, #cuda0>
// CHECK-NEXT:    %[[D:.*]] = relay.if %[[C]] : tensor<i1, #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[E:.*]] = relay.constant dense<1> : tensor<i32> on #cpu0
// CHECK-NEXT:      %[[F:.*]] = relay.subtract %n, %[[E]] : {{.*}} -> tensor<i32, #cpu0>
// CHECK-NEXT:      %[[H:.*]] = relay.exp %x : {{.*}} -> [[GPU]]
// CHECK-NEXT:      %[[I:.*]] = func.call @recursion_global(%[[F]], %[[H]]) : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[I]]
// CHECK:         func.return %[[D]]
func.func @recursion_global(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<0> : tensor<i32>
  %equal = relay.equal %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %hint = relay.on_device %equal, #relay.device<cpu:0> : (tensor<i1>) -> tensor<i1>
  %if = relay.if %hint : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %x : tensor<4xf32>
  } else {
    %c_1 = relay.constant dense<1> : tensor<i32>
    %subtract = relay.subtract %n, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %call = func.call @recursion_global(%subtract, %exp) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %call : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// A recursion that computes elements elsewhere copies each into the list.
//
// CHECK-LABEL: func.func @recursion_makes_list
// CHECK-SAME:  (%n: tensor<i32, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]]) -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<0> : tensor<i32> on #cpu0
// CHECK-NEXT:    %[[B:.*]] = relay.equal %n, %[[A]] : {{.*}} -> tensor<i1, #cpu0>
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : tensor<i1, #cpu0> to tensor<i1, #cuda0>
// CHECK-NEXT:    %[[D:.*]] = relay.if %[[C]] : tensor<i1, #cuda0> -> (!relay.adt<@List, [tensor<4xf32>], #cuda0>) {
// CHECK-NEXT:      %[[E:.*]] = relay.construct @Nil() : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:      relay.yield %[[E]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[F:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:      %[[H:.*]] = relay.device_copy %[[F]] : [[CPU]] to tensor<4xf32, #cuda0>
// CHECK-NEXT:      %[[I:.*]] = relay.constant dense<1> : tensor<i32> on #cpu0
// CHECK-NEXT:      %[[J:.*]] = relay.subtract %n, %[[I]] : {{.*}} -> tensor<i32, #cpu0>
// CHECK-NEXT:      %[[K:.*]] = func.call @recursion_makes_list(%[[J]], %x) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:      %[[L:.*]] = relay.construct @Cons(%[[H]], %[[K]]) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:      relay.yield %[[L]]
// CHECK:         func.return %[[D]]
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @recursion_makes_list(%n: tensor<i32>, %x: tensor<4xf32>) -> !relay.adt<@List, [tensor<4xf32>]> {
  %c = relay.constant dense<0> : tensor<i32>
  %equal = relay.equal %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %hint = relay.on_device %equal, #relay.device<cpu:0> : (tensor<i1>) -> tensor<i1>
  %if = relay.if %hint : tensor<i1> -> (!relay.adt<@List, [tensor<4xf32>]>) {
    %data = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<4xf32>]>
    relay.yield %data : !relay.adt<@List, [tensor<4xf32>]>
  } else {
    %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %hint_1 = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %c_1 = relay.constant dense<1> : tensor<i32>
    %subtract = relay.subtract %n, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %call = func.call @recursion_makes_list(%subtract, %x) : (tensor<i32>, tensor<4xf32>) -> !relay.adt<@List, [tensor<4xf32>]>
    %data_1 = relay.construct @Cons(%hint_1, %call) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
    relay.yield %data_1 : !relay.adt<@List, [tensor<4xf32>]>
  }
  func.return %if : !relay.adt<@List, [tensor<4xf32>]>
}

// -----

// A device travels around functions that call each other.
//
// CHECK-LABEL: func.func @even
// CHECK-SAME:  (%n: tensor<i32, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<0> : tensor<i32> on #cpu0
// CHECK-NEXT:    %[[B:.*]] = relay.equal %n, %[[A]] : {{.*}} -> tensor<i1, #cpu0>
// CHECK-NEXT:    %[[C:.*]] = relay.if %[[B]] : tensor<i1, #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[D:.*]] = relay.constant dense<1> : tensor<i32> on #cpu0
// CHECK-NEXT:      %[[E:.*]] = relay.subtract %n, %[[D]] : {{.*}} -> tensor<i32, #cpu0>
// CHECK-NEXT:      %[[F:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:      %[[H:.*]] = func.call @odd(%[[E]], %[[F]]) : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[H]]
// CHECK:         func.return %[[C]]
// CHECK-LABEL: func.func @odd
// CHECK-SAME:  (%n: tensor<i32, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<0> : tensor<i32> on #cpu0
// CHECK-NEXT:    %[[B:.*]] = relay.equal %n, %[[A]] : {{.*}} -> tensor<i1, #cpu0>
// CHECK-NEXT:    %[[C:.*]] = relay.if %[[B]] : tensor<i1, #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[D:.*]] = relay.constant dense<1> : tensor<i32> on #cpu0
// CHECK-NEXT:      %[[E:.*]] = relay.subtract %n, %[[D]] : {{.*}} -> tensor<i32, #cpu0>
// CHECK-NEXT:      %[[F:.*]] = func.call @even(%[[E]], %x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:      relay.yield %[[F]]
// CHECK:         func.return %[[C]]
func.func @even(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<0> : tensor<i32>
  %equal = relay.equal %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %if = relay.if %equal : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %x : tensor<4xf32>
  } else {
    %c_1 = relay.constant dense<1> : tensor<i32>
    %subtract = relay.subtract %n, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %call = func.call @odd(%subtract, %exp) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %call : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}
func.func @odd(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<0> : tensor<i32>
  %equal = relay.equal %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %if = relay.if %equal : tensor<i1> -> (tensor<4xf32>) {
    %hint = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %hint : tensor<4xf32>
  } else {
    %c_1 = relay.constant dense<1> : tensor<i32>
    %subtract = relay.subtract %n, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %call = func.call @even(%subtract, %x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %call : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// Inside of a recursive closure its name has the signature that its callers see: %x is on the CPU because %y is.
//
// CHECK-LABEL: func.func @recursion_of_a_closure
// CHECK-SAME:  (%n: tensor<i32, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %go = relay.fn rec(%[[A:.*]]) (%i: tensor<i32, #cpu0>, %a: [[CPU]]) -> [[CPU]] {
// CHECK-NEXT:      %[[B:.*]] = relay.constant dense<0> : tensor<i32> on #cpu0
// CHECK-NEXT:      %[[C:.*]] = relay.equal %i, %[[B]] : {{.*}} -> tensor<i1, #cpu0>
// CHECK-NEXT:      %[[D:.*]] = relay.if %[[C]] : tensor<i1, #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:        %[[E:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[E]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %[[F:.*]] = relay.constant dense<1> : tensor<i32> on #cpu0
// CHECK-NEXT:        %[[H:.*]] = relay.subtract %i, %[[F]] : {{.*}} -> tensor<i32, #cpu0>
// CHECK-NEXT:        %[[I:.*]] = relay.call %[[A]](%[[H]], %y) : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[I]]
// CHECK:           relay.yield %[[D]]
// CHECK:         %[[J:.*]] = relay.call %go(%n, %x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[J]]
func.func @recursion_of_a_closure(%n: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %go = relay.fn rec(%go_1) (%i: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
    %c = relay.constant dense<0> : tensor<i32>
    %equal = relay.equal %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %if = relay.if %equal : tensor<i1> -> (tensor<4xf32>) {
      %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %exp : tensor<4xf32>
    } else {
      %c_1 = relay.constant dense<1> : tensor<i32>
      %subtract = relay.subtract %i, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %call = relay.call %go_1(%subtract, %y) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %call : tensor<4xf32>
    }
    relay.yield %if : tensor<4xf32>
  }
  %call_1 = relay.call %go(%n, %x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call_1 : tensor<4xf32>
}

// -----

// A counter on the CPU steers a recursion on the other device: only the condition is copied.
//
// CHECK-LABEL: func.func @recursion_on_two_devices
// CHECK-SAME:  (%n: tensor<i32, #cpu0>, %x: [[GPU:tensor<4xf32, #cuda0>]], %k: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU]]
// CHECK-NEXT:    %go = relay.fn rec(%[[A:.*]]) (%i: tensor<i32, #cpu0>, %a: [[GPU]]) -> [[GPU]] {
// CHECK-NEXT:      %[[B:.*]] = relay.constant dense<1> : tensor<i32> on #cpu0
// CHECK-NEXT:      %[[C:.*]] = relay.less %i, %[[B]] : {{.*}} -> tensor<i1, #cpu0>
// CHECK-NEXT:      %[[D:.*]] = relay.device_copy %[[C]] : tensor<i1, #cpu0> to tensor<i1, #cuda0>
// CHECK-NEXT:      %[[E:.*]] = relay.if %[[D]] : tensor<i1, #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:        %[[F:.*]] = relay.device_copy %k : [[CPU]] to [[GPU]]
// CHECK-NEXT:        %[[H:.*]] = relay.add %a, %[[F]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:        relay.yield %[[H]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %[[I:.*]] = relay.constant dense<1> : tensor<i32> on #cpu0
// CHECK-NEXT:        %[[J:.*]] = relay.subtract %i, %[[I]] : {{.*}} -> tensor<i32, #cpu0>
// CHECK-NEXT:        %[[K:.*]] = relay.call %[[A]](%[[J]], %a) : {{.*}} -> [[GPU]]
// CHECK-NEXT:        relay.yield %[[K]]
// CHECK:           relay.yield %[[E]]
// CHECK:         %[[L:.*]] = relay.call %go(%n, %x) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[L]]
func.func @recursion_on_two_devices(%n: tensor<i32>, %x: tensor<4xf32>, %k: tensor<4xf32>) -> tensor<4xf32> {
  %go = relay.fn rec(%go_1) (%i: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
    %c = relay.constant dense<1> : tensor<i32>
    %less = relay.less %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hint = relay.on_device %less, #relay.device<cpu:0> : (tensor<i1>) -> tensor<i1>
    %if = relay.if %hint : tensor<i1> -> (tensor<4xf32>) {
      %hint_1 = relay.on_device %k, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
      %add = relay.add %a, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %add : tensor<4xf32>
    } else {
      %c_1 = relay.constant dense<1> : tensor<i32>
      %subtract = relay.subtract %i, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %call = relay.call %go_1(%subtract, %a) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %call : tensor<4xf32>
    }
    relay.yield %if : tensor<4xf32>
  }
  %call_1 = relay.call %go(%n, %x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call_1 : tensor<4xf32>
}

// -----

// A list, its elements, and what a recursion makes of them are on one device.
//
// CHECK-LABEL: func.func @sum
// CHECK-SAME:  (%l: !relay.adt<@List, [tensor<4xf32>], #cpu0>, %z: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.match %l : !relay.adt<@List, [tensor<4xf32>], #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      case @List::@Cons(%h: [[CPU]], %t: !relay.adt<@List, [tensor<4xf32>], #cpu0>) {
// CHECK-NEXT:        %[[B:.*]] = func.call @sum(%t, %z) : {{.*}} -> [[CPU]]
// CHECK-NEXT:        %[[C:.*]] = relay.add %h, %[[B]] : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[C]]
// CHECK:           case @List::@Nil() {
// CHECK-NEXT:        relay.yield %z
// CHECK:         func.return %[[A]]
// CHECK-LABEL: func.func @recursion_over_list
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.construct @Nil() : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cpu0>
// CHECK-NEXT:    %[[B:.*]] = relay.construct @Cons(%x, %[[A]]) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cpu0>
// CHECK-NEXT:    %[[C:.*]] = func.call @sum(%[[B]], %x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[C]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.add %[[D]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[E]]
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @sum(%l: !relay.adt<@List, [tensor<4xf32>]>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %match = relay.match %l : !relay.adt<@List, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @List::@Cons(%h: tensor<4xf32>, %t: !relay.adt<@List, [tensor<4xf32>]>) {
      %call = func.call @sum(%t, %z) : (!relay.adt<@List, [tensor<4xf32>]>, tensor<4xf32>) -> tensor<4xf32>
      %add = relay.add %h, %call : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %add : tensor<4xf32>
    }
    case @List::@Nil() {
      relay.yield %z : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}
func.func @recursion_over_list(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %data = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<4xf32>]>
  %data_1 = relay.construct @Cons(%x, %data) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  %call = func.call @sum(%data_1, %x) : (!relay.adt<@List, [tensor<4xf32>]>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %call, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
