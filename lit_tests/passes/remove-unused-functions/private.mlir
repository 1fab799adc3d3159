// RUN: xrelay-opt --split-input-file -p remove-unused-functions %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p remove-unused-functions,remove-unused-functions %s | filecheck %s

// A private function that nothing uses goes; a public one may be called from outside.
//
// CHECK:         func.func @public()
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func @public() {
  func.return
}
func.func private @private() {
  func.return
}
func.func private @private_declaration()

// -----

// So does one that only an unused function uses, or only itself.
//
// CHECK:         func.func @stays()
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func @stays() {
  func.return
}
func.func private @uses() {
  func.call @used() : () -> ()
  func.return
}
func.func private @used() {
  func.call @uses() : () -> ()
  func.call @used() : () -> ()
  func.return
}

// -----

// Every reference is a use: calls, function values, closures, kernels, attributes.
//
// CHECK-LABEL: @references
// CHECK:         private @called
// CHECK:         private @invoked
// CHECK:         private @value
// CHECK:         private @closed
// CHECK:         private @attribute
// CHECK:         private @nested
// CHECK:         private @in_a_region
// CHECK:         relay.prim_func @kernel
// CHECK:           relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func @references(%x: tensor<4xf32>, %c: tensor<i1>) {
  %0 = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.invoke @invoked<[tensor<4xf32>]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.global @value : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.closure @closed(%x) : (tensor<4xf32>) -> (() -> tensor<4xf32>)
  %4 = relay.call_lowered @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  "test.op"() {a = @attribute, b = [{c = @nested}]} : () -> ()
  relay.if %c : tensor<i1> {
    func.call @in_a_region() : () -> ()
    relay.yield
  } else {
    relay.yield
  }
  func.return
}
func.func private @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func private @invoked(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}
func.func private @value(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func private @closed(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func private @attribute() {
  func.return
}
func.func private @nested() {
  func.return
}
func.func private @in_a_region() {
  func.return
}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
relay.prim_func @unused_kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// Ops outside of functions keep what they name, and data types stay.
//
// CHECK:         relay.type_data @Opt
// CHECK:         private @named_by_the_module
relay.type_data @Opt [@Some(tensor<4xf32>)]
func.func private @named_by_the_module() {
  func.return
}
"test.op"() {callee = @named_by_the_module} : () -> ()
