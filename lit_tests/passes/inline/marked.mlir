// RUN: xrelay-opt --split-input-file -p inline %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p inline,inline %s | filecheck %s

// A call of a marked function is replaced by its body; the function stays.
//
// CHECK-LABEL: @calls(
// CHECK-NEXT:    %[[S:.*]] = relay.add %x, %x
// CHECK-NEXT:    %y = relay.exp %[[S]]
// CHECK-NEXT:    func.return %y
// CHECK:       func.func @double(
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = func.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp %d : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @double(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.inline} {
  %s = relay.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// -----

// `Inline` in Relay's attributes marks a function, too, unless it is 0.
//
// CHECK-LABEL: @relays_attribute(
// CHECK-NEXT:    relay.exp %x
// CHECK-NEXT:    func.call @not_marked(%x)
func.func @relays_attribute(%x: tensor<4xf32>) {
  %a = func.call @marked(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @not_marked(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
func.func @marked(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.attrs = {Inline = 1 : i64}} {
  %s = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}
func.func @not_marked(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.attrs = {Inline = 0 : i64}} {
  %s = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// -----

// Marked functions are inlined into each other first.
//
// CHECK-LABEL: @chain(
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x
// CHECK-NEXT:    %[[B:.*]] = relay.exp %[[A]]
// CHECK-NEXT:    func.return %[[B]]
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.inline} {
  %0 = func.call @once(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @once(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func @once(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.inline} {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// A call in a branch is replaced there; several results, and parameters as results, are allowed.
//
// CHECK-LABEL: @in_a_branch(
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %[[E:.*]] = relay.exp %x
// CHECK-NEXT:      %[[S:.*]] = relay.add %x, %[[E]]
// CHECK-NEXT:      relay.yield %[[S]]
func.func @in_a_branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %a, %b = func.call @two(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %s = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
func.func @two(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {relay.inline} {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A call of a closure of a marked function becomes direct, then its body.
//
// CHECK-LABEL: @closure(
// CHECK-NEXT:    relay.add %k, %x
// CHECK-NEXT:    func.return
func.func @closure(%k: tensor<4xf32>, %x: tensor<4xf32>) {
  %f = relay.closure @add(%k) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {relay.inline} {
  %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// Names are kept, the call's where the body has none.
//
// CHECK-LABEL: @names(
// CHECK-NEXT:    %inner = relay.exp %x
// CHECK-NEXT:    %outer = relay.exp %inner
func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  %outer = func.call @named(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %outer : tensor<4xf32>
}
func.func @named(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.inline} {
  %inner = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %0 = relay.exp %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// A call that knows more dims than the function stays.
//
// CHECK-LABEL: @dims(
// CHECK-NEXT:    relay.invoke @any(%x)
func.func @dims(%x: tensor<4xf32>) {
  %0 = relay.invoke @any(%x) : (tensor<4xf32>) -> tensor<?xf32>
  func.return
}
func.func @any(%a: tensor<?xf32>) -> tensor<?xf32> attributes {relay.inline} {
  func.return %a : tensor<?xf32>
}

// -----

// A function without a body, or with several blocks, is not inlined.
//
// CHECK-LABEL: @bodies(
// CHECK-NEXT:    func.call @none(
// CHECK-NEXT:    func.call @two_blocks(
func.func @bodies() {
  func.call @none() : () -> ()
  func.call @two_blocks() : () -> ()
  func.return
}
func.func private @none() attributes {relay.inline}
func.func @two_blocks() attributes {relay.inline} {
  "test.termop"()[^bb1] : () -> ()
^bb1:
  func.return
}
