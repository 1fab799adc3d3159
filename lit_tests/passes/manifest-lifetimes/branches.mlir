// RUN: xrelay-opt --split-input-file -p manifest-lifetimes %s | filecheck %s

// Bytes that only one branch uses die after their last use in it, and at the start of the other.
//
// CHECK-LABEL: func.func @used_in_one_branch
// CHECK:         %[[A:[a-z0-9]+]] = "test.op"() {a}
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      "test.op"(%[[A]])
// CHECK-NEXT:      memory.kill %[[A]]
// CHECK-NEXT:      "test.op"() {after}
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memory.kill %[[A]]
// CHECK-NEXT:      "test.op"() {other}
func.func @used_in_one_branch(%c: tensor<i1>) {
  %a = "test.op"() {a} : () -> tensor<4xf32>
  relay.if %c : tensor<i1> {
    "test.op"(%a) : (tensor<4xf32>) -> ()
    "test.op"() {after} : () -> ()
    relay.yield
  } else {
    "test.op"() {other} : () -> ()
    relay.yield
  }
  func.return
}

// -----

// A condition dies at the start of both branches, not after them.
//
// CHECK-LABEL: func.func @condition
// CHECK:         %[[C:[a-z0-9]+]] = "test.op"
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      memory.kill %[[C]]
// CHECK-NEXT:      "test.op"() {first}
// CHECK:         } else {
// CHECK-NEXT:      memory.kill %[[C]]
// CHECK-NEXT:      "test.op"() {second}
func.func @condition() {
  %c = "test.op"() : () -> tensor<i1>
  relay.if %c : tensor<i1> {
    "test.op"() {first} : () -> ()
    relay.yield
  } else {
    "test.op"() {second} : () -> ()
    relay.yield
  }
  func.return
}

// -----

// A branch hands over the bytes that it yields: they die under the result's name, or in the branch
// that does not yield them.
//
// CHECK-LABEL: func.func @handed_over
// CHECK:         %[[A:[a-z0-9]+]] = "test.op"() {a}
// CHECK-NEXT:    %[[R:[a-z0-9]+]] = relay.if
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memory.kill %[[A]]
// CHECK-NEXT:      %[[B:[a-z0-9]+]] = "test.op"() {b}
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK-NEXT:    }
// CHECK-NEXT:    "test.op"(%[[R]])
// CHECK-NEXT:    memory.kill %[[R]]
// CHECK-NEXT:    func.return
func.func @handed_over(%c: tensor<i1>) {
  %a = "test.op"() {a} : () -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %a : tensor<4xf32>
  } else {
    %b = "test.op"() {b} : () -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  }
  "test.op"(%r) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// A value that is used after the branch that yields it shares its bytes with the result: they die
// with the last of the two.
//
// CHECK-LABEL: func.func @shared_with_result
// CHECK:         "test.op"(%[[R:[a-z0-9]+]]) {r}
// CHECK-NEXT:    "test.op"(%[[A:[a-z0-9]+]]) {a}
// CHECK-NEXT:    memory.kill %[[A]]
// CHECK-NEXT:    func.return
func.func @shared_with_result(%c: tensor<i1>) {
  %a = "test.op"() : () -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %a : tensor<4xf32>
  } else {
    %b = "test.op"() : () -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  }
  "test.op"(%r) {r} : (tensor<4xf32>) -> ()
  "test.op"(%a) {a} : (tensor<4xf32>) -> ()
  func.return
}

// -----

// A result that is not used dies after the branch.
//
// CHECK-LABEL: func.func @unused_result
// CHECK:         %[[R:[a-z0-9]+]] = relay.if
// CHECK:         } else {
// CHECK:         }
// CHECK-NEXT:    memory.kill %[[R]]
// CHECK-NEXT:    func.return
func.func @unused_result(%c: tensor<i1>) {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %a = "test.op"() : () -> tensor<4xf32>
    relay.yield %a : tensor<4xf32>
  } else {
    %b = "test.op"() : () -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  }
  func.return
}

// -----

// A branch in tail position needs no name: what it yields is returned, and not killed.
//
// CHECK-LABEL: func.func @tail_position
// CHECK-NOT:     memory.kill
func.func @tail_position(%c: tensor<i1>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %a = "test.op"() : () -> tensor<4xf32>
    relay.yield %a : tensor<4xf32>
  } else {
    %b = "test.op"() : () -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// What a match looks into dies in each case: after the last use of a variable of its pattern, or at
// the start if the case does not use it.
//
// CHECK-LABEL: func.func @match_cases
// CHECK:         %[[L:[a-z0-9]+]] = "test.op"
// CHECK-NEXT:    relay.match %[[L]]
// CHECK-NEXT:      case @Box::@Box(%[[H:[a-z0-9]+]]: tensor<4xf32>) {
// CHECK-NEXT:        "test.op"(%[[H]])
// CHECK-NEXT:        memory.kill %[[H]]
// CHECK-NEXT:        relay.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      case _ {
// CHECK-NEXT:        memory.kill %[[L]]
// CHECK-NEXT:        relay.yield
relay.type_data @Box [@Box(tensor<4xf32>), @Empty()]
func.func @match_cases() {
  %l = "test.op"() : () -> !relay.adt<@Box, []>
  relay.match %l : !relay.adt<@Box, []> -> () {
    case @Box::@Box(%h: tensor<4xf32>) {
      "test.op"(%h) : (tensor<4xf32>) -> ()
      relay.yield
    }
    case _ {
      relay.yield
    }
  }
  func.return
}

// -----

// A tensor that is allocated before a branch and written in it dies where it is not written.
//
// CHECK-LABEL: func.func @written_in_one_branch
// CHECK:         %[[T:.*]] = memory.alloc_tensor
// CHECK:         relay.if
// CHECK:           %[[Y:.*]] = memory.copy
// CHECK-NEXT:      relay.yield %[[Y]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memory.kill %[[T]]
// CHECK-NEXT:      "test.op"() {other}
func.func @written_in_one_branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %y : tensor<4xf32>
  } else {
    %z = "test.op"() {other} : () -> tensor<4xf32>
    relay.yield %z : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
