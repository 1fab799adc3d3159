// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A closure captures what it uses from above.
//
// CHECK-LABEL: @closure
// CHECK:         %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:      %s = relay.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      relay.yield %s : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.call %f(%x) {note} : (tensor<4xf32>) -> tensor<4xf32>
func.func @closure(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %s = relay.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %r = relay.call %f(%x) {note} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// `rec` names the closure inside of itself.
//
// CHECK-LABEL: @recursive
// CHECK:         relay.fn rec(%self) (%a: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:      %r = relay.call %self(%a) : (tensor<4xf32>) -> tensor<4xf32>
func.func @recursive() {
  %f = relay.fn rec(%self) (%a: tensor<4xf32>) -> tensor<4xf32> {
    %r = relay.call %self(%a) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  func.return
}

// -----

// Relay's attributes and the annotations of devices are properties; others stay what they are.
//
// CHECK-LABEL: @annotated
// CHECK:         relay.fn (%a: tensor<4xf32>, %b: tensor<i1>) -> tensor<4xf32> attributes {
// CHECK-SAME:      attrs = {Primitive = 1 : i64}
// CHECK-SAME:      param_devices = [#cpu0, #device]
// CHECK-SAME:      result_device = #cuda1
// CHECK-SAME:      test.note = "x"
func.func @annotated() {
  %f = relay.fn (%a: tensor<4xf32>, %b: tensor<i1>) -> tensor<4xf32> attributes {attrs = {Primitive = 1 : i64}, param_devices = [#relay.device<cpu:0>, #relay.device<?>], result_device = #relay.device<cuda:1>, test.note = "x"} {
    relay.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

// A closure without parameters gives a value when it is called.
//
// CHECK-LABEL: @thunk
// CHECK:         %f = relay.fn () -> tuple<> {
// CHECK:         relay.call %f() : () -> tuple<>
func.func @thunk() {
  %f = relay.fn () -> tuple<> {
    %t = relay.tuple : () -> tuple<>
    relay.yield %t : tuple<>
  }
  %u = relay.call %f() : () -> tuple<>
  func.return
}

// -----

// Functions take and give functions.
//
// CHECK-LABEL: @higher_order
// CHECK-SAME:    (%f: (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)) -> ((tensor<i32>) -> tensor<i32>) {
// CHECK:         relay.call %f(%c) : (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
func.func @higher_order(%f: (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)) -> ((tensor<i32>) -> tensor<i32>) {
  %c = relay.constant dense<1> : tensor<i32>
  %r = relay.call %f(%c) : (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
  func.return %r : (tensor<i32>) -> tensor<i32>
}

// -----

// A closure gives a closure.
//
// CHECK-LABEL: @curried
// CHECK:         relay.fn (%a: tensor<i32>) -> (tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:      relay.fn (%b: tensor<i32>) -> tensor<i32> {
func.func @curried() {
  %f = relay.fn (%a: tensor<i32>) -> (tensor<i32>) -> tensor<i32> {
    %g = relay.fn (%b: tensor<i32>) -> tensor<i32> {
      relay.yield %a : tensor<i32>
    }
    relay.yield %g : (tensor<i32>) -> tensor<i32>
  }
  func.return
}

// -----

// A global function as a value, and generic ones at type arguments.
//
// CHECK-LABEL: @id
// CHECK-LABEL: @uses
// CHECK-NEXT:    relay.global @uses : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    relay.global @id<[tensor<4xf32>]> {note} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    relay.invoke @id<[tensor<4xf32>]>(%x) {note} : (tensor<4xf32>) -> tensor<4xf32>
func.func @id(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}
func.func @uses(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = relay.global @uses : (tensor<4xf32>) -> tensor<4xf32>
  %h = relay.global @id<[tensor<4xf32>]> {note} : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.invoke @id<[tensor<4xf32>]>(%x) {note} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// A closure of a global function has the values of the function's first parameters.
//
// CHECK-LABEL: @scale
// CHECK-LABEL: @first
// CHECK-LABEL: @closures
// CHECK-NEXT:    relay.closure @scale(%k) : (tensor<f32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
// CHECK-NEXT:    relay.closure @first<[tensor<4xf32>]>(%k) {note} : (tensor<f32>) -> ((tensor<4xf32>) -> tensor<f32>)
// CHECK-NEXT:    relay.closure @scale() : () -> ((tensor<f32>, tensor<4xf32>) -> tensor<4xf32>)
func.func @scale(%k: tensor<f32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @first(%k: tensor<f32>, %x: !relay.type_var<A>) -> tensor<f32> attributes {relay.type_params = ["A"]} {
  func.return %k : tensor<f32>
}
func.func @closures(%k: tensor<f32>) {
  %f = relay.closure @scale(%k) : (tensor<f32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %g = relay.closure @first<[tensor<4xf32>]>(%k) {note} : (tensor<f32>) -> ((tensor<4xf32>) -> tensor<f32>)
  %h = relay.closure @scale() : () -> ((tensor<f32>, tensor<4xf32>) -> tensor<4xf32>)
  func.return
}

// -----

// A closure with type parameters, at type arguments.
//
// CHECK-LABEL: @instances
// CHECK-NEXT:    %id = relay.fn rec(%self) (%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {type_params = ["A"]} {
// CHECK-NEXT:      relay.instantiate %self<[!relay.type_var<A>]> : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((!relay.type_var<A>) -> !relay.type_var<A>)
// CHECK:         relay.instantiate %id<[tensor<i32>]> {note} : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((tensor<i32>) -> tensor<i32>)
func.func @instances() {
  %id = relay.fn rec(%self) (%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {type_params = ["A"]} {
    %f = relay.instantiate %self<[!relay.type_var<A>]> : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((!relay.type_var<A>) -> !relay.type_var<A>)
    relay.yield %x : !relay.type_var<A>
  }
  %f = relay.instantiate %id<[tensor<i32>]> {note} : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((tensor<i32>) -> tensor<i32>)
  func.return
}
