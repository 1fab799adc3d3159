// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Each use of a constructor is for itself: two lists are on two devices.
//
// CHECK-LABEL: func.func @constructor_each_use
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]], %y: tensor<4xf32, #cpu0>) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.construct @Nil() : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:    %a = relay.construct @Cons(%x, %[[A]]) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:    %[[B:.*]] = relay.construct @Nil() : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cpu0>
// CHECK-NEXT:    %b = relay.construct @Cons(%y, %[[B]]) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cpu0>
// CHECK-NEXT:    %[[C:.*]] = relay.match %a : !relay.adt<@List, [tensor<4xf32>], #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:      case @List::@Cons(%h: [[GPU]], _) {
// CHECK-NEXT:        %[[D:.*]] = relay.exp %h : {{.*}} -> [[GPU]]
// CHECK-NEXT:        relay.yield %[[D]]
// CHECK:           case @List::@Nil() {
// CHECK-NEXT:        relay.yield %x
// CHECK:         func.return %[[C]]
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @constructor_each_use(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %data = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<4xf32>]>
  %a = relay.construct @Cons(%x, %data) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  %hint = relay.on_device %y, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %data_1 = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<4xf32>]>
  %b = relay.construct @Cons(%hint, %data_1) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  %match = relay.match %a : !relay.adt<@List, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @List::@Cons(%h: tensor<4xf32>, _) {
      %exp = relay.exp %h : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %exp : tensor<4xf32>
    }
    case @List::@Nil() {
      relay.yield %x : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// Data is on one device with what it is made of; a hinted field is copied there.
//
// CHECK-LABEL: func.func @constructor_on_one_device
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.construct @Nil() : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:    %[[D:.*]] = relay.construct @Cons(%y, %[[C]]) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:    %[[E:.*]] = relay.construct @Cons(%[[B]], %[[D]]) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cuda0>
// CHECK-NEXT:    func.return %[[E]]
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @constructor_on_one_device(%x: tensor<4xf32>, %y: tensor<4xf32>) -> !relay.adt<@List, [tensor<4xf32>]> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %data = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<4xf32>]>
  %data_1 = relay.construct @Cons(%y, %data) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  %data_2 = relay.construct @Cons(%hint, %data_1) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  func.return %data_2 : !relay.adt<@List, [tensor<4xf32>]>
}

// -----

// Data in two other data joins them.
//
// CHECK-LABEL: func.func @constructor_shared
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %n = relay.construct @Nil() : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cpu0>
// CHECK-NEXT:    %a = relay.construct @Cons(%x, %n) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cpu0>
// CHECK-NEXT:    %b = relay.construct @Cons(%y, %n) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>], #cpu0>
// CHECK-NEXT:    %[[A:.*]] = relay.match %a : !relay.adt<@List, [tensor<4xf32>], #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      case @List::@Cons(%h: [[CPU]], _) {
// CHECK-NEXT:        relay.yield %h
// CHECK:           case @List::@Nil() {
// CHECK-NEXT:        relay.yield %x
// CHECK:         func.return %[[A]]
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @constructor_shared(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<4xf32>]>
  %a = relay.construct @Cons(%x, %n) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  %hint = relay.on_device %y, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.construct @Cons(%hint, %n) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  %match = relay.match %a : !relay.adt<@List, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @List::@Cons(%h: tensor<4xf32>, _) {
      relay.yield %h : tensor<4xf32>
    }
    case @List::@Nil() {
      relay.yield %x : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// Data with a hint on both sides takes all of a `match` there.
//
// CHECK-LABEL: func.func @match_data_fixed
// CHECK-SAME:  (%o: !relay.adt<@Option, [tensor<4xf32>], #cpu0>, %d: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.match %o : !relay.adt<@Option, [tensor<4xf32>], #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      case @Option::@Some(%a: [[CPU]]) {
// CHECK-NEXT:        relay.yield %a
// CHECK:           case @Option::@None() {
// CHECK-NEXT:        relay.yield %d
// CHECK:         func.return %[[A]]
relay.type_data @Option<["A"]> [@Some(!relay.type_var<A>), @None()]
func.func @match_data_fixed(%o: !relay.adt<@Option, [tensor<4xf32>]>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %hint = relay.on_device %o, #relay.device<cpu:0> {constrain_result = true} : (!relay.adt<@Option, [tensor<4xf32>]>) -> !relay.adt<@Option, [tensor<4xf32>]>
  %match = relay.match %hint : !relay.adt<@Option, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @Option::@Some(%a: tensor<4xf32>) {
      relay.yield %a : tensor<4xf32>
    }
    case @Option::@None() {
      relay.yield %d : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// What is computed inside of a case may be elsewhere than the data.
//
// CHECK-LABEL: func.func @match_inside_is_free
// CHECK-SAME:  (%o: !relay.adt<@Option, [tensor<4xf32>], #cuda0>, %x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:.*]] = relay.match %o : !relay.adt<@Option, [tensor<4xf32>], #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:      case @Option::@Some(%a: [[GPU]]) {
// CHECK-NEXT:        %[[B:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:        %[[C:.*]] = relay.device_copy %[[B]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:        %[[D:.*]] = relay.add %a, %[[C]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:        relay.yield %[[D]]
// CHECK:           case @Option::@None() {
// CHECK-NEXT:        %[[E:.*]] = relay.device_copy %x : [[CPU]] to [[GPU]]
// CHECK-NEXT:        %[[F:.*]] = relay.tanh %[[E]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:        relay.yield %[[F]]
// CHECK:         func.return %[[A]]
relay.type_data @Option<["A"]> [@Some(!relay.type_var<A>), @None()]
func.func @match_inside_is_free(%o: !relay.adt<@Option, [tensor<4xf32>]>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %match = relay.match %o : !relay.adt<@Option, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @Option::@Some(%a: tensor<4xf32>) {
      %hint = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
      %exp = relay.exp %hint : (tensor<4xf32>) -> tensor<4xf32>
      %hint_1 = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
      %add = relay.add %a, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %add : tensor<4xf32>
    }
    case @Option::@None() {
      %hint_2 = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
      %tanh = relay.tanh %hint_2 : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %tanh : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// The variables of a pattern, however deep, are where the data is.
//
// CHECK-LABEL: func.func @match_nested_patterns
// CHECK-SAME:  (%l: !relay.adt<@List, [tuple<tensor<4xf32>, tensor<4xf32>>], #cpu0>, %d: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.match %l : !relay.adt<@List, [tuple<tensor<4xf32>, tensor<4xf32>>], #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      case @List::@Cons((%a: [[CPU]], _), @List::@Cons((_, %b: [[CPU]]), _)) {
// CHECK-NEXT:        %[[B:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:        relay.yield %[[B]]
// CHECK:           case _ {
// CHECK-NEXT:        relay.yield %d
// CHECK:         func.return %[[A]]
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @match_nested_patterns(%l: !relay.adt<@List, [tuple<tensor<4xf32>, tensor<4xf32>>]>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %match = relay.match %l : !relay.adt<@List, [tuple<tensor<4xf32>, tensor<4xf32>>]> -> (tensor<4xf32>) {
    case @List::@Cons((%a: tensor<4xf32>, _), @List::@Cons((_, %b: tensor<4xf32>), _)) {
      %hint = relay.on_device %b, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
      %add = relay.add %a, %hint : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %add : tensor<4xf32>
    }
    case _ {
      relay.yield %d : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// Data, what the cases give and the result of a `match` are on one device.
//
// CHECK-LABEL: func.func @match_on_one_device
// CHECK-SAME:  (%l: !relay.adt<@List, [tensor<4xf32>], #cpu0>, %d: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.match %l : !relay.adt<@List, [tensor<4xf32>], #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      case @List::@Cons(%h: [[CPU]], _) {
// CHECK-NEXT:        relay.yield %h
// CHECK:           case @List::@Nil() {
// CHECK-NEXT:        relay.yield %d
// CHECK:         %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @match_on_one_device(%l: !relay.adt<@List, [tensor<4xf32>]>, %d: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %match = relay.match %l : !relay.adt<@List, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @List::@Cons(%h: tensor<4xf32>, _) {
      relay.yield %h : tensor<4xf32>
    }
    case @List::@Nil() {
      relay.yield %d : tensor<4xf32>
    }
  }
  %hint = relay.on_device %match, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
