// RUN: xrelay-opt --split-input-file -p manifest-lifetimes %s | filecheck %s

// A call may return its argument, which then lives as long as the result; an argument that the
// callee does not return dies after the call.
//
// CHECK-LABEL: func.func @arguments_and_results
// CHECK:         %[[Y:.*]] = func.call @first(%{{.*}}, %[[B:.*]]) :
// CHECK-NEXT:    memory.kill %[[B]]
// CHECK-NEXT:    "test.op"(%[[Y]])
// CHECK-NEXT:    memory.kill %[[Y]]
// CHECK-NEXT:    func.return
func.func @arguments_and_results() {
  %a = "test.op"() : () -> tensor<4xf32>
  %b = "test.op"() : () -> tensor<4xf32>
  %y = func.call @first(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// It may return it by way of another call, also in a recursion.
//
// CHECK-LABEL: func.func @first
// CHECK-NOT:     memory.kill
// CHECK:       func.func @second
func.func @first(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @second(%b, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @second(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<true> : tensor<i1>
  %y = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %z = func.call @first(%b, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %z : tensor<4xf32>
  } else {
    relay.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// A function that is not in the module, or that is a value, may return each of its arguments.
//
// CHECK-LABEL: func.func @unknown_callee
// CHECK:         %[[Y:[a-z0-9]+]] = func.call @h
// CHECK:         %[[Z:[a-z0-9]+]] = relay.call
// CHECK-NEXT:    "test.op"(%[[Z]])
// CHECK-NEXT:    memory.kill %[[Z]]
// CHECK-NEXT:    func.return
func.func @unknown_callee() {
  %a = "test.op"() : () -> tensor<4xf32>
  %b = "test.op"() : () -> tensor<4xf32>
  %y = func.call @h(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = relay.global @h2 : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.call %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%z) : (tensor<4xf32>) -> ()
  func.return
}
func.func private @h(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @h2(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

// A call may write an argument into a cell that is another argument.
//
// CHECK-LABEL: func.func @cell_argument
// CHECK:         func.call @store
// CHECK-NEXT:    %[[R:[a-z0-9]+]] = relay.ref_read
// CHECK-NEXT:    "test.op"(%[[R]])
// CHECK-NEXT:    memory.kill %[[R]]
// CHECK-NEXT:    func.return
func.func @cell_argument() {
  %a = "test.op"() : () -> tensor<4xf32>
  %b = "test.op"() : () -> tensor<4xf32>
  %c = relay.ref_create %a : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  func.call @store(%c, %b) : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> ()
  %r = relay.ref_read %c : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  "test.op"(%r) : (tensor<4xf32>) -> ()
  func.return
}
func.func @store(%c: !relay.ref<tensor<4xf32>>, %x: tensor<4xf32>) {
  %u = relay.ref_write %c, %x : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  func.return
}
