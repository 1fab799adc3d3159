// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s

// A call of a known closure is a call of its function, and the closure value goes.
//
// CHECK-LABEL: @known(
// CHECK-NEXT:    %r = func.call @known_f(%y, %x) {note} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r
func.func @known(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %r = relay.call %f(%x) {note} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// A closure that is also a value stays for its other uses.
//
// CHECK-LABEL: @other_uses(
// CHECK-NEXT:    %f = relay.closure @other_uses_f(%y)
// CHECK-NEXT:    %r = func.call @other_uses_f(%y, %x)
// CHECK-NEXT:    "test.op"(%f)
func.func @other_uses(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%f) : ((tensor<4xf32>) -> tensor<4xf32>) -> ()
  func.return %r : tensor<4xf32>
}

// -----

// A call of a function that is a parameter stays as it is.
//
// CHECK-LABEL: @unknown(
// CHECK-NEXT:    relay.call %f(%x)
func.func @unknown(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// A call that knows more dims than the closure is a `relay.invoke`, which allows that.
//
// CHECK-LABEL: @dims(
// CHECK-NEXT:    relay.invoke @dims_f(%x) : (tensor<4xf32>) -> tensor<?xf32>
// CHECK:       @dims_f(%a: tensor<?xf32>) -> tensor<?xf32>
func.func @dims(%x: tensor<4xf32>) -> tensor<?xf32> {
  %f = relay.fn (%a: tensor<?xf32>) -> tensor<?xf32> {
    relay.yield %a : tensor<?xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<?xf32>, callee (tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}

// -----

// A function returns what its body yields, which may know more dims than the closure's type.
//
// CHECK-LABEL: @yields_more(
// CHECK-NEXT:    relay.global @yields_more_f : (tensor<4xf32>) -> tensor<?xf32>
// CHECK:       @yields_more_f(%a: tensor<4xf32>) -> tensor<4xf32>
func.func @yields_more() -> ((tensor<4xf32>) -> tensor<?xf32>) {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<?xf32> {
    relay.yield %a : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<?xf32>
}

// -----

// So is a call of a global function taken as a value.
//
// CHECK-LABEL: @global(
// CHECK-NEXT:    %r = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %s = relay.invoke @id<[tensor<4xf32>]>(%r) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %s
func.func @global(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = relay.global @g : (tensor<4xf32>) -> tensor<4xf32>
  %id = relay.global @id<[tensor<4xf32>]> : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.call %g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.call %id(%r) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}
func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}
func.func @id(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}
