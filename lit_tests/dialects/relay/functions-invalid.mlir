// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// A closure's region fits its type; calls fit what they call.

// expected-error@+1 {{a closure returns one value, but is declared as () -> (tensor<4xf32>, tensor<4xf32>)}}
%f = "relay.fn"() ({
  %x = "test.op"() : () -> tensor<4xf32>
  "relay.yield"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
}) : () -> (() -> (tensor<4xf32>, tensor<4xf32>))

// -----

// expected-error@+1 {{the region takes (tensor<5xf32>) -> tensor<4xf32>, but the closure is declared as (tensor<4xf32>) -> tensor<4xf32>}}
%f = "relay.fn"() ({
^bb0(%a: tensor<5xf32>):
  %x = "test.op"() : () -> tensor<4xf32>
  "relay.yield"(%x) : (tensor<4xf32>) -> ()
}) : () -> ((tensor<4xf32>) -> tensor<4xf32>)

// -----

// expected-error@+1 {{the 'rec' argument must have the closure's type, (tensor<4xf32>) -> tensor<4xf32>, but has tensor<4xf32>}}
%f = "relay.fn"() <{recursive}> ({
^bb0(%self: tensor<4xf32>, %a: tensor<4xf32>):
  "relay.yield"(%a) : (tensor<4xf32>) -> ()
}) : () -> ((tensor<4xf32>) -> tensor<4xf32>)

// -----

// expected-error@+1 {{param_devices needs one device for each of 1 parameters, but has 2}}
%f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> attributes {param_devices = [#relay.device<cpu>, #relay.device<cpu>]} {
  relay.yield %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{the region of relay.fn yields tensor<4xf32> as value 0, but tensor<5xf32> is declared}}
%f = relay.fn (%a: tensor<4xf32>) -> tensor<5xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{the region of relay.fn must end in relay.yield}}
%f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
  "test.termop"() : () -> ()
}

// -----

%f, %x = "test.op"() : () -> ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>)
// expected-error@+1 {{the callee expects 1 arguments, but got 2}}
%r = "relay.call"(%f, %x, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f, %x = "test.op"() : () -> ((tensor<4xf32>) -> tensor<4xf32>, tensor<5xf32>)
// expected-error@+1 {{argument 0 of the callee must be tensor<4xf32>, but is tensor<5xf32>}}
%r = "relay.call"(%f, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>

// -----

%f, %x = "test.op"() : () -> ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>)
// expected-error@+1 {{result 0 of the callee must be tensor<4xf32>, but is tensor<5xf32>}}
%r = "relay.call"(%f, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>

// -----

%f, %x = "test.op"() : () -> (tensor<4xf32>, tensor<4xf32>)
// expected-error@+1 {{expected a function type of 1 operands and a result, but got tensor<4xf32>}}
%r = relay.call %f(%x) : tensor<4xf32>

// -----

// expected-error@+1 {{@missing is not defined in the module}}
%f = relay.global @missing : (tensor<4xf32>) -> tensor<4xf32>

// -----

relay.type_data @List [@Nil()]
// expected-error@+1 {{@List is a relay.type_data, not a function}}
%f = relay.global @List : (tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
// expected-error@+1 {{@f is (tensor<4xf32>) -> tensor<4xf32>, but is declared as (tensor<5xf32>) -> tensor<5xf32>}}
%f = relay.global @f : (tensor<5xf32>) -> tensor<5xf32>

// -----

func.func @id(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}
// expected-error@+1 {{@id has 1 type parameters, but 0 type arguments are given}}
%f = relay.global @id : (tensor<5xf32>) -> tensor<5xf32>

// -----

func.func @id(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}
%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{@id has 1 type parameters, but 2 type arguments are given}}
%r = relay.invoke @id<[tensor<4xf32>, tensor<4xf32>]>(%x) : (tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @id(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}
%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{argument 0 of @id must be tensor<5xf32>, but is tensor<4xf32>}}
%r = relay.invoke @id<[tensor<5xf32>]>(%x) : (tensor<4xf32>) -> tensor<5xf32>

// -----

func.func @id(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}
// expected-error@+1 {{@id expects 1 arguments, but got 0}}
%r = relay.invoke @id<[tensor<5xf32>]>() : () -> tensor<5xf32>

// -----

// expected-error@+1 {{@missing is not defined in the module}}
%r = relay.invoke @missing<[tensor<5xf32>]>() : () -> tensor<5xf32>

// -----

// expected-error@+1 {{@missing is not defined in the module}}
%f = relay.closure @missing() : () -> (() -> tensor<4xf32>)

// -----

%x = "test.op"() : () -> tensor<f32>
// expected-error@+1 {{tensor<4xf32> should be of base attribute fun}}
%f = relay.closure @f(%x) : (tensor<f32>) -> tensor<4xf32>

// -----

func.func @f(%k: tensor<f32>) -> tensor<f32> {
  func.return %k : tensor<f32>
}
%x = "test.op"() : () -> tensor<f32>
// expected-error@+1 {{@f has 1 parameters, but the closure captures 2 values}}
%f = relay.closure @f(%x, %x) : (tensor<f32>, tensor<f32>) -> (() -> tensor<f32>)

// -----

func.func @f(%k: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  func.return %k, %k : tensor<f32>, tensor<f32>
}
%x = "test.op"() : () -> tensor<f32>
// expected-error@+1 {{a closure returns one value, but @f returns 2}}
%f = relay.closure @f(%x) : (tensor<f32>) -> (() -> tensor<f32>)

// -----

func.func @f(%k: tensor<f32>, %a: tensor<4xf32>) -> tensor<f32> {
  func.return %k : tensor<f32>
}
%x = "test.op"() : () -> tensor<f32>
// expected-error@+1 {{after 1 captured values @f is (tensor<4xf32>) -> tensor<f32>, but the closure is declared as (tensor<5xf32>) -> tensor<f32>}}
%f = relay.closure @f(%x) : (tensor<f32>) -> ((tensor<5xf32>) -> tensor<f32>)

// -----

func.func @f(%k: tensor<f32>, %a: tensor<4xf32>) -> tensor<f32> {
  func.return %k : tensor<f32>
}
%x = "test.op"() : () -> tensor<i1>
// expected-error@+1 {{argument 0 of the closure of @f must be tensor<f32>, but is tensor<i1>}}
%f = relay.closure @f(%x) : (tensor<i1>) -> ((tensor<4xf32>) -> tensor<f32>)

// -----

func.func @f(%k: !relay.type_var<A>) -> tensor<f32> attributes {relay.type_params = ["A"]} {
  %r = "test.op"() : () -> tensor<f32>
  func.return %r : tensor<f32>
}
%x = "test.op"() : () -> tensor<i1>
// expected-error@+1 {{@f has 1 type parameters, but 0 type arguments are given}}
%f = relay.closure @f(%x) : (tensor<i1>) -> (() -> tensor<f32>)

// -----

func.func @f(%f: (tensor<f32>) -> tensor<f32>) {
  // expected-error@+1 {{expected a closure with type parameters}}
  %g = relay.instantiate %f<[tensor<i32>]> : ((tensor<f32>) -> tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
  func.return
}

// -----

%id = relay.fn (%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {type_params = ["A"]} {
  relay.yield %x : !relay.type_var<A>
}
// expected-error@+1 {{the closure has 1 type parameters, but 2 type arguments are given}}
%f = relay.instantiate %id<[tensor<i32>, tensor<i32>]> : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((tensor<i32>) -> tensor<i32>)

// -----

%id = relay.fn (%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {type_params = ["A"]} {
  relay.yield %x : !relay.type_var<A>
}
// expected-error@+1 {{the instance is (tensor<i32>) -> tensor<i32>, but is declared as (tensor<i32>) -> tensor<f32>}}
%f = relay.instantiate %id<[tensor<i32>]> : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((tensor<i32>) -> tensor<f32>)
