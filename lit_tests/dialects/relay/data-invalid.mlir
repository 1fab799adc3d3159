// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Constructors have different names, and values fit the definition of their type.

// expected-error@+1 {{@Twice has two constructors named @A}}
relay.type_data @Twice [@A(), @B(), @A()]

// -----

// expected-error@+1 {{an extern type has no constructors}}
relay.type_data extern @Extern [@A()]

// -----

// expected-error@+1 {{@Missing is not defined}}
%l = relay.construct @Nil() : () -> !relay.adt<@Missing, []>

// -----

func.func @f() {
  func.return
}
// expected-error@+1 {{@f is a func.func, not a data type}}
%l = relay.construct @Nil() : () -> !relay.adt<@f, []>

// -----

relay.type_data @List<["A"]> [@Nil()]
// expected-error@+1 {{@List has 1 type parameters, but 2 type arguments are given}}
%l = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<i32>, tensor<i32>]>

// -----

relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>)]
// expected-error@+1 {{@List has no constructor @Node (it has @Nil, @Cons)}}
%l = relay.construct @Node() : () -> !relay.adt<@List, [tensor<i32>]>

// -----

relay.type_data @Void []
// expected-error@+1 {{@Void has no constructor @Node (it has none)}}
%l = relay.construct @Node() : () -> !relay.adt<@Void, []>

// -----

relay.type_data @Box<["A"]> [@Box(!relay.type_var<A>)]
// expected-error@+1 {{@Box expects 1 arguments, but got 0}}
%l = relay.construct @Box() : () -> !relay.adt<@Box, [tensor<i32>]>

// -----

relay.type_data @Box<["A"]> [@Box(!relay.type_var<A>)]
%x = "test.op"() : () -> tensor<4xi32>
// expected-error@+1 {{argument 0 of @Box must be tensor<i32>, but is tensor<4xi32>}}
%l = relay.construct @Box(%x) : (tensor<4xi32>) -> !relay.adt<@Box, [tensor<i32>]>

// -----

// expected-error@+1 {{tensor<4xi32> should be of base attribute relay.adt}}
%l = relay.construct @Box() : () -> tensor<4xi32>

// -----

// expected-error@+1 {{expected a #relay.device, but got 4 : i64}}
func.func private @f(!relay.adt<@Box, [], 4>)
