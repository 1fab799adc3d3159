// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'plan-devices{default=cuda:0 repair}' %s | filecheck %s

// `repair` copies the argument of a closure.
//
// CHECK-LABEL: func.func @repair_argument_of_closure
// CHECK:         %[[COPY:.*]] = relay.device_copy %x : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %{{.*}} = relay.call %f(%[[COPY]])
// expected-note@+1 {{the value is made here}}
func.func @repair_argument_of_closure(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  // expected-remark@+1 {{an operand of relay.call is copied from cpu:0 to cuda:0 (16 bytes)}}
  %u = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.call %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %u, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// `repair` copies the argument of a call, not what the function does.
//
// CHECK-LABEL: func.func @callee
// CHECK-LABEL: func.func @repair_argument
// CHECK:         %[[COPY:.*]] = relay.device_copy %x : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %{{.*}} = func.call @callee(%[[COPY]])
func.func @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %exp : tensor<4xf32>
}
// expected-note@+1 {{the value is made here}}
func.func @repair_argument(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-remark@+1 {{an operand of func.call is copied from cpu:0 to cuda:0 (16 bytes)}}
  %u = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = func.call @callee(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %u, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Two arguments that are one value, elsewhere than both parameters, are two copies.
//
// CHECK-LABEL: func.func @callee
// CHECK-LABEL: func.func @repair_both_uses
// CHECK:         %[[COPY:.*]] = relay.device_copy %x : tensor<4xf32, #cuda0> to tensor<4xf32, #cpu0>
// CHECK-NEXT:    %[[COPY1:.*]] = relay.device_copy %x : tensor<4xf32, #cuda0> to tensor<4xf32, #cpu0>
// CHECK-NEXT:    %{{.*}} = func.call @callee(%[[COPY]], %[[COPY1]])
func.func @callee(%a: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
// expected-note@+2 {{the value is made here}}
// expected-note@+1 {{the value is made here}}
func.func @repair_both_uses(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-remark@+2 {{an operand of func.call is copied from cuda:0 to cpu:0 (16 bytes)}}
  // expected-remark@+1 {{an operand of func.call is copied from cuda:0 to cpu:0 (16 bytes)}}
  %call = func.call @callee(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// `repair` copies a captured value inside of the closure.
//
// CHECK-LABEL: func.func @repair_captured_value
// CHECK:         %[[COPY:.*]] = relay.device_copy %x : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %{{.*}} = relay.add %a, %[[COPY]]
// expected-note@+1 {{the value is made here}}
func.func @repair_captured_value(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4x4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4x4xf32> {
  %f = relay.fn (%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-remark@+1 {{an operand of relay.add is copied from cpu:0 to cuda:0 (16 bytes)}}
    %add = relay.add %a, %x : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    relay.yield %add : tensor<4x4xf32>
  }
  %call = relay.call %f(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %call : tensor<4x4xf32>
}

// -----

// `repair` may copy the condition of an `if`.
//
// CHECK-LABEL: func.func @repair_condition
// CHECK:         %[[COPY:.*]] = relay.device_copy %c : tensor<i1, #cuda0> to tensor<i1, #cpu0>
// CHECK-NEXT:    %{{.*}} = relay.if %[[COPY]]
// expected-note@+1 {{the value is made here}}
func.func @repair_condition(%c: tensor<i1> {relay.device = #relay.device<cuda:0>}, %x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> (tensor<4xf32> {relay.device = #relay.device<cpu:0>}) {
  // expected-remark@+1 {{an operand of relay.if is copied from cuda:0 to cpu:0 (1 byte)}}
  %if = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// `repair` copies inside of the cases of a `match`, never the data.
//
// CHECK-LABEL: func.func @repair_in_case
// CHECK:         %[[COPY:.*]] = relay.device_copy %exp : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    relay.yield %[[COPY]]
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @repair_in_case(%l: !relay.adt<@List, [tensor<4xf32>]> {relay.device = #relay.device<cuda:0>}, %d: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  // expected-remark@+1 {{an operand of relay.match is copied from cpu:0 to cuda:0 (16 bytes)}}
  %match = relay.match %l : !relay.adt<@List, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @List::@Cons(%h: tensor<4xf32>, _) {
      relay.yield %h : tensor<4xf32>
    }
    case @List::@Nil() {
      // expected-note@+1 {{the value is made here}}
      %exp = relay.exp %d : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %exp : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// What a kernel reads is copied, never what it writes into: that has no contents.
//
// CHECK-LABEL: func.func @repair_no_copy_of_destination
// CHECK:         %[[COPY:.*]] = relay.device_copy %x : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %{{.*}} = vm.invoke_tvm_op @add ins(%[[COPY]], %y
// expected-note@+1 {{the value is made here}}
func.func @repair_no_copy_of_destination(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cuda:0> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  // expected-remark@+1 {{an operand of vm.invoke_tvm_op is copied from cpu:0 to cuda:0 (16 bytes)}}
  %t_1 = vm.invoke_tvm_op @add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %add : tensor<4xf32>
}

// -----

// Arguments of one call are copied each for itself, also when they are one value.
//
// CHECK-LABEL: func.func @callee
// CHECK:         %[[COPY:.*]] = relay.device_copy %a : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %{{.*}} = relay.add %[[COPY]], %b
// CHECK-LABEL: func.func @repair_one_of_two_uses
// CHECK:         %[[COPY:.*]] = relay.device_copy %x : tensor<4xf32, #cuda0> to tensor<4xf32, #cpu0>
// CHECK-NEXT:    %{{.*}} = func.call @callee(%[[COPY]], %x)
func.func @callee(%a: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %b: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
// expected-note@+1 {{the value is made here}}
func.func @repair_one_of_two_uses(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@+1 {{an operand of func.call is copied from cuda:0 to cpu:0 (16 bytes)}}
  %call = func.call @callee(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// `repair` copies the operand that moves the fewest bytes.
//
// CHECK-LABEL: func.func @repair_operand
// CHECK:         %[[COPY:.*]] = relay.device_copy %x : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %{{.*}} = relay.add %[[COPY]], %y
// expected-note@+1 {{the value is made here}}
func.func @repair_operand(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4x4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4x4xf32> {
  // expected-remark@+1 {{an operand of relay.add is copied from cpu:0 to cuda:0 (16 bytes)}}
  %add = relay.add %x, %y : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %add : tensor<4x4xf32>
}

// -----

// `repair` brings the argument of a recursive call back.
//
// CHECK-LABEL: func.func @repair_recursion
// CHECK:         %[[COPY:.*]] = relay.device_copy %a : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %{{.*}} = relay.exp %[[COPY]]
// CHECK:         %[[COPY1:.*]] = relay.device_copy %b : tensor<4xf32, #cuda0> to tensor<4xf32, #cpu0>
// CHECK-NEXT:    %{{.*}} = func.call @repair_recursion(%n, %[[COPY1]])
// expected-note@+1 {{the value is made here}}
func.func @repair_recursion(%n: tensor<i32>, %a: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %c = relay.constant dense<0> : tensor<i32>
  %equal = relay.equal %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %if = relay.if %equal : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %a : tensor<4xf32>
  } else {
    // expected-remark@+1 {{an operand of relay.exp is copied from cpu:0 to cuda:0 (16 bytes)}}
    %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note@+1 {{the value is made here}}
    %hint = relay.on_device %b, #relay.device<cuda:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-remark@+1 {{an operand of func.call is copied from cuda:0 to cpu:0 (16 bytes)}}
    %call = func.call @repair_recursion(%n, %hint) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %call : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// A size that is elsewhere is copied to the host before it becomes a number.
//
// CHECK-LABEL: func.func @repair_size
// CHECK:         %[[COPY:.*]] = relay.device_copy %n : tensor<i64, #cuda0> to tensor<i64, #cpu0>
// CHECK-NEXT:    %{{.*}} = tensor.extract %[[COPY]][]
// expected-note@+1 {{the value is made here}}
func.func @repair_size(%n: tensor<i64> {relay.device = #relay.device<cuda:0>}) -> !memory.storage {
  // expected-remark@+1 {{an operand of tensor.extract is copied from cuda:0 to cpu:0 (8 bytes)}}
  %n_1 = tensor.extract %n[] : tensor<i64>
  %storage = memory.alloc_storage %n_1 align 64 on #relay.device<cuda:0> : !memory.storage
  func.return %storage : !memory.storage
}
