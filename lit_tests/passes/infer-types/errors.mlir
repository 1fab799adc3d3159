// RUN: xrelay-opt --verify-diagnostics --split-input-file -p infer-types %s

// A type that contradicts the operands is an error, and so is one that nothing determines.

func.func @contradicts_operands(%x: tensor<4xf32>) {
  // expected-error@+1 {{the result of relay.nn.relu is tensor<4xf32>, but is declared as tensor<5xf32>}}
  %a = relay.nn.relu %x : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @contradicts_after_inference(%x: tensor<4xf32>) {
  %a = relay.nn.relu %x : (tensor<4xf32>) -> !relay.incomplete
  // expected-error@+1 {{the result of relay.cast is tensor<4xi32>, but is declared as tensor<4xf32>}}
  %b = relay.cast %a {dtype = i32} : (!relay.incomplete) -> tensor<4xf32>
  func.return
}

// -----

func.func @does_not_fit(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %a = relay.nn.relu %x : (tensor<4xf32>) -> !relay.incomplete
  // expected-error@+1 {{dims 4 and 5 at axis -1 do not broadcast together}}
  %b = relay.add %a, %y : (!relay.incomplete, tensor<5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @branches_differ(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{the branches of relay.if yield different types: tensor<4xf32> and tensor<5xf32>}}
  %r = relay.if %c : tensor<i1> -> (!relay.incomplete) {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %y : tensor<5xf32>
  }
  func.return
}

// -----

func.func @endless(%x: tensor<4xf32>) -> !relay.incomplete {
  // expected-error@+1 {{the type of this value cannot be inferred}}
  %a = func.call @endless(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return %a : !relay.incomplete
}

// -----

// expected-error@+1 {{the type of this value cannot be inferred}}
func.func @parameter(%x: !relay.incomplete) {
  func.return
}

// -----

func.func @op_without_a_rule() {
  // expected-error@+1 {{the type of this value cannot be inferred}}
  %a = "test.op"() : () -> !relay.incomplete
  func.return
}

// -----

func.func @other_contents(%x: tensor<4xf32>) {
  // expected-error@+1 {{the result of relay.ref_create is !relay.ref<tensor<4xf32>>, but is declared as !relay.ref<tuple<!relay.incomplete>>}}
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tuple<!relay.incomplete>>
  func.return
}

// -----

// A reference is read and written: its contents may not know less than what was put there.

func.func @other_dims(%x: tensor<4xf32>) {
  // expected-error@+1 {{the result of relay.ref_create is !relay.ref<tensor<4xf32>>, but is declared as !relay.ref<tensor<?xf32>>}}
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<?xf32>>
  func.return
}

// -----

relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>)]
func.func @nothing_says_of_what() {
  // expected-error@+1 {{the type of this value cannot be inferred}}
  %l = relay.construct @Nil() : () -> !relay.adt<@List, [!relay.incomplete]>
  func.return
}

// -----

// A dim of a parameter fits into 64 bits, in a tuple too.

// expected-error@+1 {{dim 1 of tensor<0x9223372036854775808xf32> must be below 2^63, but is 9223372036854775808}}
func.func @too_large(%x: tensor<9223372036854775807x0xf32>, %y: tensor<0x9223372036854775808xf32>) {
  func.return
}

// -----

// expected-error@+1 {{dim 0 of tensor<18446744073709551616xf32> must be below 2^63}}
func.func @too_large_in_a_tuple(%x: tuple<tensor<2xf32>, tensor<18446744073709551616xf32>>) {
  func.return
}

// -----

// Types that the ops of a program say of one value contradict each other.
func.func @two_calls(%x: tensor<4xi32>, %y: tensor<4xf32>) {
  %g = relay.fn (%a: !relay.incomplete<0>) -> !relay.incomplete<0> {
    relay.yield %a : !relay.incomplete<0>
  }
  %r = relay.call %g(%x) : (tensor<4xi32>) -> !relay.incomplete
  // expected-error@+1 {{the callee must be of type (tensor<4xf32>) -> !relay.incomplete, but is of type (tensor<4xi32>) -> tensor<4xi32>}}
  %s = relay.call %g(%y) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

// What a pattern says of its own type arguments alone does not determine those of the data.

relay.type_data @Option<["A"]> [@Some(!relay.type_var<A>), @None()]

// expected-error@+1 {{the type of this value cannot be inferred}}
func.func @nothing_determines_the_argument(%o: !relay.adt<@Option, [!relay.incomplete]>) {
  %b = relay.match %o : !relay.adt<@Option, [!relay.incomplete]> -> (!relay.incomplete) {
    case @Option::@Some(_) {
      %t = relay.constant dense<true> : tensor<i1>
      relay.yield %t : tensor<i1>
    }
    case _ {
      %f = relay.constant dense<false> : tensor<i1>
      relay.yield %f : tensor<i1>
    }
  }
  func.return
}
