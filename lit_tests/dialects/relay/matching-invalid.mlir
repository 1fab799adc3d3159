// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// There is a region a pattern, and patterns fit the type of the data.

%x = "test.op"() : () -> tensor<i32>
// expected-error@+1 {{there are 2 patterns, but 1 regions}}
%r = "relay.match"(%x) <{patterns = [#relay.wildcard, #relay.wildcard]}> ({
  "relay.yield"(%x) : (tensor<i32>) -> ()
}) : (tensor<i32>) -> tensor<i32>

// -----

%x = "test.op"() : () -> tensor<i32>
// expected-error@+1 {{the pattern of case 0 has 1 variables, of types (tensor<i32>), but its region takes (tensor<i64>)}}
%r = "relay.match"(%x) <{patterns = [#relay.var<tensor<i32>>]}> ({
^bb0(%y: tensor<i64>):
  "relay.yield"(%x) : (tensor<i32>) -> ()
}) : (tensor<i32>) -> tensor<i32>

// -----

%x = "test.op"() : () -> tensor<i32>
// expected-error@+1 {{the pattern of case 0 must be a pattern, but is 1 : i64}}
%r = "relay.match"(%x) <{patterns = [1 : i64]}> ({
  "relay.yield"(%x) : (tensor<i32>) -> ()
}) : (tensor<i32>) -> tensor<i32>

// -----

%x = "test.op"() : () -> tensor<i32>
// expected-error@+1 {{case 1 of relay.match yields tensor<i32> as value 0, but tensor<4xi32> is declared}}
%r = relay.match %x : tensor<i32> -> (tensor<4xi32>) {
  case _ {
    %y = "test.op"() : () -> tensor<4xi32>
    relay.yield %y : tensor<4xi32>
  }
  case _ {
    relay.yield %x : tensor<i32>
  }
}

// -----

%x = "test.op"() : () -> tensor<i32>
// expected-error@+1 {{the pattern of case 0 names a tensor<i64>, but the value has type tensor<i32>}}
%r = relay.match %x : tensor<i32> -> (tensor<i32>) {
  case %y: tensor<i64> {
    relay.yield %x : tensor<i32>
  }
}

// -----

%x = "test.op"() : () -> tuple<tensor<i32>>
// expected-error@+1 {{the pattern of case 0 matches a tuple of 2 fields, but the value has type tuple<tensor<i32>>}}
relay.match %x : tuple<tensor<i32>> -> () {
  case (_, _) {
    relay.yield
  }
}

// -----

%x = "test.op"() : () -> tensor<i32>
// expected-error@+1 {{the pattern of case 0 matches a tuple of 1 fields, but the value has type tensor<i32>}}
relay.match %x : tensor<i32> -> () {
  case (_) {
    relay.yield
  }
}

// -----

relay.type_data @A [@A()]
relay.type_data @B [@B()]
%x = "test.op"() : () -> !relay.adt<@A, []>
// expected-error@+1 {{the pattern of case 0 matches a @B, but the value has type !relay.adt<@A, []>}}
relay.match %x : !relay.adt<@A, []> -> () {
  case @B::@B() {
    relay.yield
  }
}

// -----

relay.type_data @A [@A()]
%x = "test.op"() : () -> !relay.adt<@A, []>
// expected-error@+1 {{@A has no constructor @B (it has @A)}}
relay.match %x : !relay.adt<@A, []> -> () {
  case @A::@B() {
    relay.yield
  }
}

// -----

relay.type_data @A [@A(tensor<i32>)]
%x = "test.op"() : () -> tuple<!relay.adt<@A, []>>
// expected-error@+1 {{@A has 1 fields, but the pattern of case 0 has 2}}
relay.match %x : tuple<!relay.adt<@A, []>> -> () {
  case (@A::@A(_, _)) {
    relay.yield
  }
}

// -----

relay.type_data @Box<["T"]> [@Box(!relay.type_var<T>)]
%x = "test.op"() : () -> !relay.adt<@Box, [tensor<i32>]>
// expected-error@+1 {{the pattern of case 0 names a tensor<i64>, but the value has type tensor<i32>}}
relay.match %x : !relay.adt<@Box, [tensor<i32>]> -> () {
  case @Box::@Box(%y: tensor<i64>) {
    relay.yield
  }
}

// -----

%x = "test.op"() : () -> !relay.adt<@A, []>
// expected-error@+1 {{@A is not defined}}
relay.match %x : !relay.adt<@A, []> -> () {
  case @A::@B() {
    relay.yield
  }
}

// -----

// Every value of the type must be covered, or the match be partial.

relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]
%l = "test.op"() : () -> !relay.adt<@List, [tensor<i32>]>
// expected-error@+1 {{does not cover Cons(_, Cons(_, Nil)): add the missing cases, or 'partial'}}
relay.match %l : !relay.adt<@List, [tensor<i32>]> -> () {
  case @List::@Nil() {
    relay.yield
  }
  case @List::@Cons(_, @List::@Cons(_, @List::@Cons(_, _))) {
    relay.yield
  }
  case @List::@Cons(_, @List::@Nil()) {
    relay.yield
  }
}

// -----

// A few of the values are shown.

relay.type_data @Color [@Red(), @Green(), @Blue(), @White()]
%p = "test.op"() : () -> tuple<!relay.adt<@Color, []>, tensor<i32>>
// expected-error@+1 {{does not cover (Red, _) and (White, _): add the missing cases, or 'partial'}}
relay.match %p : tuple<!relay.adt<@Color, []>, tensor<i32>> -> () {
  case (@Color::@Green(), %x: tensor<i32>) {
    relay.yield
  }
  case (@Color::@Blue(), _) {
    relay.yield
  }
}

// -----

relay.type_data @Color [@Red(), @Green(), @Blue(), @White()]
%c = "test.op"() : () -> tuple<!relay.adt<@Color, []>, !relay.adt<@Color, []>>
// expected-error@+1 {{does not cover (Green, _), (Blue, _), (White, _) and others: add the missing cases, or 'partial'}}
relay.match %c : tuple<!relay.adt<@Color, []>, !relay.adt<@Color, []>> -> () {
  case (@Color::@Red(), @Color::@Red()) {
    relay.yield
  }
}

// -----

// What an extern type is made of is not known.

relay.type_data extern @Store []
%s = "test.op"() : () -> !relay.adt<@Store, []>
// expected-error@+1 {{has no case: add the missing cases, or 'partial'}}
relay.match %s : !relay.adt<@Store, []> -> () {
}

// -----

// A type that contains itself at larger arguments may grow without end.

relay.type_data @N<["A"]> [@Z(), @S(!relay.adt<@N, [tuple<!relay.type_var<A>, !relay.type_var<A>>]>), @K(!relay.type_var<A>)]
%n = "test.op"() : () -> !relay.adt<@N, [tensor<i32>]>
// expected-error@+1 {{the pattern of case 0 looks into a type of more than 100000 parts}}
relay.match partial %n : !relay.adt<@N, [tensor<i32>]> -> () {
  case @N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@S(@N::@K(%x: tensor<i32>)))))))))))))))))) {
    relay.yield
  }
}
