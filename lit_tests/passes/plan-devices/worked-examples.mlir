// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// A hint on one operand sends what it is computed from to the other device, and copies it back.
//
// CHECK-LABEL: @left_add_on_cpu
// CHECK-SAME:    %a: [[CPU:tensor<5x7xf32, #cpu0>]], %b: [[CPU]],
// CHECK-SAME:    %c: [[GPU:tensor<5x7xf32, #cuda0>]], %d: [[GPU]]) -> [[GPU]]
// CHECK:         %[[L:.*]] = relay.add %a, %b
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[L]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[R:.*]] = relay.add %c, %d
// CHECK-NEXT:    relay.subtract %[[C]], %[[R]]
func.func @left_add_on_cpu(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = relay.on_device %0, #relay.device<cpu:0> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = relay.add %c, %d : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = relay.subtract %1, %2 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %3 : tensor<5x7xf32>
}

// -----

// A fixed hint on the result of a closure's body reaches its callers through its type.
//
// CHECK-LABEL: @func_param_on_cpu
// CHECK-SAME:    %a: [[CPU:tensor<5x7xf32, #cpu0>]], %b: [[CPU]], %c: [[CPU]], %d: [[CPU]]) -> [[CPU]]
// CHECK:         relay.fn (%x: [[CPU]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NOT:     device_copy
func.func @func_param_on_cpu(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %f = relay.fn (%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %v = relay.add %x, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    %h = relay.on_device %v, #relay.device<cpu:0> {constrain_result = true} : (tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %h : tensor<5x7xf32>
  }
  %1 = relay.call %f(%a, %b) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = relay.add %c, %d : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = relay.subtract %1, %2 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %3 : tensor<5x7xf32>
}

// -----

// A device travels through two function values: %y is on the CPU because the inner closure's
// parameter is.
//
// CHECK-LABEL: @higher_order
// CHECK-SAME:    %x: [[GPU:tensor<5x7xf32, #cuda0>]], %y: [[CPU:tensor<5x7xf32, #cpu0>]]) -> [[GPU]]
// CHECK:         relay.fn (%g: ([[GPU]]) -> [[GPU]]) -> ([[CPU]]) -> [[GPU]]
// CHECK-NEXT:      relay.fn (%p: [[CPU]]) -> [[GPU]]
// CHECK-NEXT:        %[[C:.*]] = relay.device_copy %p : [[CPU]] to [[GPU]]
// CHECK-NEXT:        relay.call %g(%[[C]])
// CHECK:         relay.fn (%b: [[GPU]]) -> [[GPU]]
func.func @higher_order(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %f = relay.fn (%g: (tensor<5x7xf32>) -> tensor<5x7xf32>) -> (tensor<5x7xf32>) -> tensor<5x7xf32> {
    %inner = relay.fn (%p: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %h = relay.on_device %p, #relay.device<cpu:0> : (tensor<5x7xf32>) -> tensor<5x7xf32>
      %q = relay.call %g(%h) : (tensor<5x7xf32>) -> tensor<5x7xf32>
      %s = relay.add %q, %x : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
      relay.yield %s : tensor<5x7xf32>
    }
    relay.yield %inner : (tensor<5x7xf32>) -> tensor<5x7xf32>
  }
  %neg = relay.fn (%b: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %n = relay.negative %b : (tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %n : tensor<5x7xf32>
  }
  %2 = relay.call %f(%neg) : ((tensor<5x7xf32>) -> tensor<5x7xf32>) -> ((tensor<5x7xf32>) -> tensor<5x7xf32>)
  %3 = relay.call %2(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %4 = relay.subtract %x, %3 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %4 : tensor<5x7xf32>
}

// -----

// A hint on a tuple becomes a hint on each field that is used: project, then copy.
//
// CHECK-LABEL: @tuple_get_item
// CHECK-SAME:    %x: [[CPU:tensor<3x3x4xf32, #cpu0>]]) -> [[G:tensor<3x3x4xf32, #cuda0>]]
// CHECK:         %[[T:.*]] = relay.tuple %x, %x
// CHECK-NEXT:    %[[A:.*]] = relay.tuple_get_item %[[T]][0]
// CHECK-NEXT:    %[[CA:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[G]]
// CHECK-NEXT:    %[[B:.*]] = relay.tuple_get_item %[[T]][1]
// CHECK-NEXT:    %[[CB:.*]] = relay.device_copy %[[B]]
// CHECK-NEXT:    relay.subtract %[[CA]], %[[CB]]
func.func @tuple_get_item(%x: tensor<3x3x4xf32>) -> tensor<3x3x4xf32> {
  %t = relay.tuple %x, %x : (tensor<3x3x4xf32>, tensor<3x3x4xf32>) -> tuple<tensor<3x3x4xf32>, tensor<3x3x4xf32>>
  %h0 = relay.on_device %t, #relay.device<cpu:0> : (tuple<tensor<3x3x4xf32>, tensor<3x3x4xf32>>) -> tuple<tensor<3x3x4xf32>, tensor<3x3x4xf32>>
  %a = relay.tuple_get_item %h0[0] : (tuple<tensor<3x3x4xf32>, tensor<3x3x4xf32>>) -> tensor<3x3x4xf32>
  %h1 = relay.on_device %t, #relay.device<cpu:0> : (tuple<tensor<3x3x4xf32>, tensor<3x3x4xf32>>) -> tuple<tensor<3x3x4xf32>, tensor<3x3x4xf32>>
  %b = relay.tuple_get_item %h1[1] : (tuple<tensor<3x3x4xf32>, tensor<3x3x4xf32>>) -> tensor<3x3x4xf32>
  %s = relay.subtract %a, %b : (tensor<3x3x4xf32>, tensor<3x3x4xf32>) -> tensor<3x3x4xf32>
  %r = relay.on_device %s, #relay.device<cuda:0> : (tensor<3x3x4xf32>) -> tensor<3x3x4xf32>
  func.return %r : tensor<3x3x4xf32>
}

// -----

// A match, its data, its variables and its result share a device; so do a reference and what is
// written into it.
//
// CHECK-LABEL: @data_and_references
// CHECK-SAME:    %x: [[CPU:tensor<i32, #cpu0>]]) -> [[CPU]]
// CHECK:         relay.construct @Cons(%x, %{{.*}}) : ([[CPU]], !relay.adt<@List, {{.*}}, #cpu0>) -> !relay.adt<@List, {{.*}}, #cpu0>
// CHECK:         relay.match %{{.*}} : !relay.adt<@List, {{.*}}, #cpu0> -> ([[CPU]])
// CHECK-NEXT:      case @List::@Cons(%h: [[CPU]], _)
// CHECK:         relay.ref_create %{{.*}} : ([[CPU]]) -> !relay.ref<[[CPU]]>
relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]
func.func @data_and_references(%x: tensor<i32>) -> tensor<i32> {
  %n = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<i32>]>
  %l = relay.construct @Cons(%x, %n) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
  %m = relay.match %l : !relay.adt<@List, [tensor<i32>]> -> (tensor<i32>) {
    case @List::@Cons(%h: tensor<i32>, _) {
      %hh = relay.on_device %h, #relay.device<cpu:0> {constrain_result = true} : (tensor<i32>) -> tensor<i32>
      relay.yield %hh : tensor<i32>
    }
    case _ {
      relay.yield %x : tensor<i32>
    }
  }
  %r = relay.ref_create %m : (tensor<i32>) -> !relay.ref<tensor<i32>>
  %v = relay.ref_read %r : (!relay.ref<tensor<i32>>) -> tensor<i32>
  func.return %v : tensor<i32>
}

// -----

// All calls of a function share its signature, whichever way they are made.
//
// CHECK-LABEL: func.func @callee
// CHECK-SAME:    (%a: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
// CHECK-LABEL: func.func @calls
// CHECK:         relay.global @callee : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
func.func @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.global @callee : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %h = relay.on_device %y, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @callee(%h) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

// A function's annotations are constraints; afterwards the types have the devices.
//
// CHECK-LABEL: @annotated
// CHECK-SAME:    (%x: tensor<4xf32, #cpu0>, %y: tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
func.func @annotated(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  func.return %y : tensor<4xf32>
}
