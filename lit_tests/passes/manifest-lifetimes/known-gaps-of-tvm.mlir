// RUN: xrelay-opt --split-input-file -p manifest-lifetimes %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p manifest-lifetimes,manifest-lifetimes %s | filecheck %s

// A second run changes nothing: a kill is not a use.
//
// CHECK-LABEL: func.func @idempotent
// CHECK:         "test.op"(%[[A:[a-z0-9]+]])
// CHECK-NEXT:    memory.kill %[[A]]
// CHECK-NEXT:    func.return
func.func @idempotent() {
  %a = "test.op"() : () -> tensor<4xf32>
  "test.op"(%a) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// Kills that are too early, too late, or of bytes of the caller are replaced.
//
// CHECK-LABEL: func.func @existing_kills
// CHECK:         "test.op"(%[[A:[a-z0-9]+]])
// CHECK-NEXT:    memory.kill %[[A]]
// CHECK-NEXT:    "test.op"(%[[X:[a-z0-9]+]])
// CHECK-NEXT:    func.return
func.func @existing_kills(%x: tensor<4xf32>) {
  %a = "test.op"() : () -> tensor<4xf32>
  memory.kill %a : tensor<4xf32>
  "test.op"(%a) : (tensor<4xf32>) -> ()
  "test.op"(%x) : (tensor<4xf32>) -> ()
  memory.kill %x : tensor<4xf32>
  memory.kill %a : tensor<4xf32>
  func.return
}

// -----

// A use in a cell or in a closure is a use.
//
// CHECK-LABEL: func.func @in_cells_and_closures
// CHECK:         relay.ref_read
// CHECK-NEXT:    "test.op"(%[[R:[a-z0-9]+]])
// CHECK-NEXT:    memory.kill %[[R]]
// CHECK-NEXT:    %[[Y:[a-z0-9]+]] = relay.call
// CHECK-NEXT:    "test.op"(%[[Y]])
// CHECK-NEXT:    memory.kill %[[Y]]
// CHECK-NEXT:    func.return
func.func @in_cells_and_closures() {
  %a = "test.op"() : () -> tensor<4xf32>
  %b = "test.op"() : () -> tensor<4xf32>
  %c = relay.ref_create %a : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %f = relay.fn () -> tensor<4xf32> {
    relay.yield %b : tensor<4xf32>
  }
  %r = relay.ref_read %c : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  "test.op"(%r) : (tensor<4xf32>) -> ()
  %y = relay.call %f() : () -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// Nested functions have lifetimes of their own; what they capture and their parameters are not
// killed in them.
//
// CHECK-LABEL: func.func @nested_functions
// CHECK:         relay.fn (%[[X:[a-z0-9]+]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:      %[[B:[a-z0-9]+]] = "test.op"() {b}
// CHECK-NEXT:      "test.op"(%[[X]])
// CHECK-NEXT:      "test.op"(%[[A:[a-z0-9]+]])
// CHECK-NEXT:      "test.op"(%[[B]])
// CHECK-NEXT:      memory.kill %[[B]]
// CHECK-NEXT:      %[[C:[a-z0-9]+]] = "test.op"() {c}
// CHECK-NEXT:      relay.yield %[[C]]
func.func @nested_functions() -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %a = "test.op"() : () -> tensor<4xf32>
  %f = relay.fn (%x: tensor<4xf32>) -> tensor<4xf32> {
    %b = "test.op"() {b} : () -> tensor<4xf32>
    "test.op"(%x) : (tensor<4xf32>) -> ()
    "test.op"(%a) : (tensor<4xf32>) -> ()
    "test.op"(%b) : (tensor<4xf32>) -> ()
    %c = "test.op"() {c} : () -> tensor<4xf32>
    relay.yield %c : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}
