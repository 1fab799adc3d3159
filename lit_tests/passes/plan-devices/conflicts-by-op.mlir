// RUN: xrelay-opt --verify-diagnostics --split-input-file -p plan-devices %s

// A hint on its result only contradicts the constraints of its users.
//
// expected-note@+1 {{cuda:0 is required here: parameter 1 of @conflict_at_a_result_hint is annotated}}
func.func @conflict_at_a_result_hint(%x: tensor<4xf32>, %y: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: the hint says where its result is}}
  %hint = relay.on_device %a, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Hints on both sides of two operands meet at the operator.
func.func @conflict_at_an_operator(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{cpu:0 is required here: the hint says where its result is}}
  %hint = relay.on_device %a, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tanh %y : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: the hint says where its result is}}
  %hint_1 = relay.on_device %b, #relay.device<cuda:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %add = relay.add %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// The chain between two constraints far apart is the shortest one, with each op once.
func.func @conflict_far_apart(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{cpu:0 is required here: the hint says where its result is}}
  %hint = relay.on_device %a, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{operands and results of relay.tanh share a device}}
  %b = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.negative %b : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.add %c, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{operands and results of relay.multiply share a device}}
  %e = relay.multiply %d, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: the hint says where its operand is}}
  %hint_1 = relay.on_device %e, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint_1 : tensor<4xf32>
}

// -----

// Of two conflicts the first in the text is reported.
//
// expected-error@+3 {{one value would have to be on cpu:0 and on cuda:0}}
// expected-note@+2 {{cpu:0 is required here: parameter 0 of @conflict_first_in_the_text is annotated}}
// expected-note@+1 {{cuda:0 is required here: parameter 1 of @conflict_first_in_the_text is annotated}}
func.func @conflict_first_in_the_text(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %a = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %multiply = relay.multiply %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %multiply : tensor<4xf32>
}

// -----

// The result of a call is where the function's result is.
func.func @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{cpu:0 is required here: the hint says where its result is}}
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{result 0 of @callee is returned here}}
  func.return %hint : tensor<4xf32>
}
// expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
// expected-note@+1 {{cuda:0 is required here: result 0 of @conflict_in_call_result is declared there}}
func.func @conflict_in_call_result(%x: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  // expected-note@+1 {{result 0 of the call is where that of @callee is}}
  %call = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{result 0 of @conflict_in_call_result is returned here}}
  func.return %call : tensor<4xf32>
}

// -----

// A function has one signature for all its calls: the result of one is the argument of the other.
func.func @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{operands and results of relay.exp share a device}}
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{result 0 of @callee is returned here}}
  func.return %exp : tensor<4xf32>
}
func.func @conflict_in_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{argument 0 is where parameter 0 of @callee is}}
  %a = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{result 0 of the call is where that of @callee is}}
  %b = func.call @callee(%a) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{cpu:0 is required here: the hint says where its operand is}}
  %hint = relay.on_device %b, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: the hint says where its operand is}}
  %hint_1 = relay.on_device %x, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Annotations of a closure must agree with its body.
func.func @conflict_in_closure_annotations(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+5 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+4 {{cpu:0 is required here: parameter 0 of the closure is annotated}}
  // expected-note@+3 {{parameter 0 of the closure is the region's argument}}
  // expected-note@+2 {{the closure gives what its region yields}}
  // expected-note@+1 {{cuda:0 is required here: the closure's result is annotated}}
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> attributes {param_devices = [#relay.device<cpu:0>], result_device = #relay.device<cuda:0>} {
    // expected-note@+1 {{operands and results of relay.exp share a device}}
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  %call = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// Inside of a recursive closure its name has the signature that its callers see.
//
// expected-error@+3 {{one value would have to be on cpu:0 and on cuda:0}}
// expected-note@+2 {{cpu:0 is required here: parameter 1 of @conflict_in_closure_recursion is annotated}}
// expected-note@+1 {{cuda:0 is required here: parameter 2 of @conflict_in_closure_recursion is annotated}}
func.func @conflict_in_closure_recursion(%n: tensor<i32>, %x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{the closure itself is the region's argument}}
  %go = relay.fn rec(%go_1) (%i: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
    %c = relay.constant dense<0> : tensor<i32>
    %equal = relay.equal %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hint = relay.on_device %equal, #relay.device<cpu:0> : (tensor<i1>) -> tensor<i1>
    %if = relay.if %hint : tensor<i1> -> (tensor<4xf32>) {
      %tanh = relay.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %tanh : tensor<4xf32>
    } else {
      // expected-note@+1 {{argument 1 is where the callee's parameter 1 is}}
      %call = relay.call %go_1(%i, %y) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %call : tensor<4xf32>
    }
    relay.yield %if : tensor<4xf32>
  }
  // expected-note@+1 {{argument 1 is where the callee's parameter 1 is}}
  %call_1 = relay.call %go(%n, %x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %call_1 : tensor<4xf32>
}

// -----

// The result of a call is where the closure's result is.
//
// expected-note@+1 {{cuda:0 is required here: result 0 of @conflict_in_closure_result is declared there}}
func.func @conflict_in_closure_result(%x: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  // expected-note@+1 {{the closure gives what its region yields}}
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
    // expected-note@+1 {{cpu:0 is required here: the hint says where its result is}}
    %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %hint : tensor<4xf32>
  }
  // expected-note@+1 {{the call's result is where the callee's is}}
  %call = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{result 0 of @conflict_in_closure_result is returned here}}
  func.return %call : tensor<4xf32>
}

// -----

// A closure has one signature for all its calls.
//
// expected-error@+3 {{one value would have to be on cpu:0 and on cuda:0}}
// expected-note@+2 {{cpu:0 is required here: parameter 0 of @conflict_in_closure is annotated}}
// expected-note@+1 {{cuda:0 is required here: parameter 1 of @conflict_in_closure is annotated}}
func.func @conflict_in_closure(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  // expected-note@+1 {{argument 0 is where the callee's parameter 0 is}}
  %u = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{argument 0 is where the callee's parameter 0 is}}
  %call = relay.call %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// The fields of data are together, through all that it is made of.
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
// expected-error@+3 {{one value would have to be on cuda:0 and on cpu:0}}
// expected-note@+2 {{cuda:0 is required here: parameter 0 of @conflict_in_data is annotated}}
// expected-note@+1 {{cpu:0 is required here: parameter 1 of @conflict_in_data is annotated}}
func.func @conflict_in_data(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> !relay.adt<@List, [tensor<4xf32>]> {
  %data = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<4xf32>]>
  // expected-note@+1 {{operands and results of relay.construct share a device}}
  %data_1 = relay.construct @Cons(%y, %data) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  // expected-note@+1 {{operands and results of relay.construct share a device}}
  %data_2 = relay.construct @Cons(%x, %data_1) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  func.return %data_2 : !relay.adt<@List, [tensor<4xf32>]>
}

// -----

// A generic function has one signature, too.
func.func @same(%a: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %a : !relay.type_var<A>
}
// expected-error@+3 {{one value would have to be on cpu:0 and on cuda:0}}
// expected-note@+2 {{cpu:0 is required here: parameter 0 of @conflict_in_generic_call is annotated}}
// expected-note@+1 {{cuda:0 is required here: parameter 1 of @conflict_in_generic_call is annotated}}
func.func @conflict_in_generic_call(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<8xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<8xf32> {
  // expected-note@+1 {{argument 0 is where parameter 0 of @same is}}
  %a = relay.invoke @same<[tensor<4xf32>]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{argument 0 is where parameter 0 of @same is}}
  %call = relay.invoke @same<[tensor<8xf32>]>(%y) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %call : tensor<8xf32>
}

// -----

// The condition of an `if` is where its branches are.
//
// expected-error@+3 {{one value would have to be on cuda:0 and on cpu:0}}
// expected-note@+2 {{cuda:0 is required here: parameter 0 of @conflict_in_if is annotated}}
// expected-note@+1 {{cpu:0 is required here: parameter 1 of @conflict_in_if is annotated}}
func.func @conflict_in_if(%c: tensor<i1> {relay.device = #relay.device<cuda:0>}, %x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{condition, branches and result of relay.if share a device}}
  %if = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    // expected-note@+1 {{operands and results of relay.exp share a device}}
    %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// The result of a case is where the data is.
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
// expected-error@+3 {{one value would have to be on cuda:0 and on cpu:0}}
// expected-note@+2 {{cuda:0 is required here: parameter 0 of @conflict_in_match is annotated}}
// expected-note@+1 {{cpu:0 is required here: parameter 1 of @conflict_in_match is annotated}}
func.func @conflict_in_match(%l: !relay.adt<@List, [tensor<4xf32>]> {relay.device = #relay.device<cuda:0>}, %d: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{data, cases and result of relay.match share a device}}
  %match = relay.match %l : !relay.adt<@List, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @List::@Cons(%h: tensor<4xf32>, _) {
      relay.yield %h : tensor<4xf32>
    }
    case @List::@Nil() {
      relay.yield %d : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// The variable of a pattern is where the data is.
relay.type_data @Option<["A"]> [@Some(!relay.type_var<A>), @None()]
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @conflict_in_pattern is annotated}}
func.func @conflict_in_pattern(%o: !relay.adt<@Option, [tensor<4xf32>]> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{data, cases and result of relay.match share a device}}
  %match = relay.match partial %o : !relay.adt<@Option, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @Option::@Some(%a: tensor<4xf32>) {
      // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
      // expected-note@+1 {{cpu:0 is required here: the hint says where its operand is}}
      %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
      %tanh = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %tanh : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// A field is where its tuple is.
//
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @conflict_in_projection is annotated}}
func.func @conflict_in_projection(%t: tuple<tensor<4xf32>, tensor<4xf32>> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{operands and results of relay.tuple_get_item share a device}}
  %a = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: the hint says where its operand is}}
  %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %tanh = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
  func.return %tanh : tensor<4xf32>
}

// -----

// The argument of a recursive call is where the parameter is.
//
// expected-error@+3 {{one value would have to be on cpu:0 and on cuda:0}}
// expected-note@+2 {{cpu:0 is required here: parameter 1 of @conflict_in_recursion is annotated}}
// expected-note@+1 {{cuda:0 is required here: parameter 2 of @conflict_in_recursion is annotated}}
func.func @conflict_in_recursion(%n: tensor<i32>, %a: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %b: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  %c = relay.constant dense<0> : tensor<i32>
  %equal = relay.equal %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %if = relay.if %equal : tensor<i1> -> (tensor<4xf32>) {
    %hint = relay.on_device %b, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
    %tanh = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %tanh : tensor<4xf32>
  } else {
    // expected-note@+1 {{argument 1 is where parameter 1 of @conflict_in_recursion is}}
    %call = func.call @conflict_in_recursion(%n, %b, %b) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %call : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// A value written into a reference is where the reference was created.
//
// expected-error@+3 {{one value would have to be on cuda:0 and on cpu:0}}
// expected-note@+2 {{cuda:0 is required here: parameter 0 of @conflict_in_reference is annotated}}
// expected-note@+1 {{cpu:0 is required here: parameter 1 of @conflict_in_reference is annotated}}
func.func @conflict_in_reference(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{operands and results of relay.ref_create share a device}}
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  // expected-note@+1 {{operands and results of relay.ref_write share a device}}
  %u = relay.ref_write %r, %y : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  %read = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  func.return %read : tensor<4xf32>
}

// -----

// The fields of a tuple are together.
//
// expected-error@+3 {{one value would have to be on cuda:0 and on cpu:0}}
// expected-note@+2 {{cuda:0 is required here: parameter 0 of @conflict_in_tuple is annotated}}
// expected-note@+1 {{cpu:0 is required here: parameter 1 of @conflict_in_tuple is annotated}}
func.func @conflict_in_tuple(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  // expected-note@+1 {{operands and results of relay.tuple share a device}}
  %tuple = relay.tuple %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  func.return %tuple : tuple<tensor<4xf32>, tensor<4xf32>>
}

// -----

// A hint on a function, even a free one, constrains the function itself.
//
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @conflict_through_freely_hinted_function is annotated}}
func.func @conflict_through_freely_hinted_function(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: parameter 0 of the closure is annotated}}
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> attributes {param_devices = [#relay.device<cpu:0>]} {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  // expected-note@+1 {{a hint on a function is about the function itself}}
  %g = relay.on_device %f, #relay.device<?> {constrain_body = false} : ((tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  // expected-note@+1 {{argument 0 is where the callee's parameter 0 is}}
  %call = relay.call %g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A global function as a value has the devices of the function.
//
// expected-note@+1 {{cpu:0 is required here: parameter 0 of @callee is annotated}}
func.func @callee(%a: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %exp : tensor<4xf32>
}
// expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @conflict_through_global_value is annotated}}
func.func @conflict_through_global_value(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{the value is the function @callee}}
  %g = relay.global @callee : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{argument 0 is where the callee's parameter 0 is}}
  %call = relay.call %g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A conflict through a function that is an argument names each call on the way.
//
// expected-note@+1 {{cpu:0 is required here: parameter 0 of @conflict_through_higher_order is annotated}}
func.func @conflict_through_higher_order(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  // expected-note@+1 {{parameter 0 of the closure is the region's argument}}
  %f = relay.fn (%g: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
    // expected-note@+1 {{argument 0 is where the callee's parameter 0 is}}
    %call = relay.call %g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %call : tensor<4xf32>
  }
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: parameter 0 of the closure is annotated}}
  %h = relay.fn (%b: tensor<4xf32>) -> tensor<4xf32> attributes {param_devices = [#relay.device<cuda:0>]} {
    %exp = relay.exp %b : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %exp : tensor<4xf32>
  }
  // expected-note@+1 {{argument 0 is where the callee's parameter 0 is}}
  %call_1 = relay.call %f(%h) : ((tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32>
  func.return %call_1 : tensor<4xf32>
}

// -----

// A hint on a function constrains its result, on both sides.
func.func @conflict_through_hinted_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{the closure gives what its region yields}}
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note@+1 {{cuda:0 is required here: the hint says where its result is}}
    %hint = relay.on_device %exp, #relay.device<cuda:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %hint : tensor<4xf32>
  }
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: the hint says where its operand is}}
  %g = relay.on_device %f, #relay.device<cpu:0> {constrain_result = true} : ((tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %call = relay.call %g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %call : tensor<4xf32>
}

// -----

// A copy in the program constrains its operand.
//
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @conflict_with_copy is annotated}}
func.func @conflict_with_copy(%x: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: the hint says where its operand is}}
  %hint = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cuda:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint_1 : tensor<4xf32>
}

// -----

// A shape is on the host, not where the data is.
//
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @conflict_with_host is annotated}}
func.func @conflict_with_host(%x: tensor<?xi64> {relay.device = #relay.device<cuda:0>}) -> tensor<?xi64> {
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: the result of vm.shape_of is on the host}}
  %s = vm.shape_of %x : (tensor<?xi64>) -> tensor<1xi64>
  // expected-note@+1 {{operands and results of relay.add share a device}}
  %add = relay.add %s, %x : (tensor<1xi64>, tensor<?xi64>) -> tensor<?xi64>
  func.return %add : tensor<?xi64>
}
