// RUN: xrelay-opt --split-input-file -p eliminate-dead-code %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p eliminate-dead-code,eliminate-dead-code %s | filecheck %s

// An unused result of a branch goes, with what both branches compute for it.
//
// CHECK-LABEL: @branch(
// CHECK-NEXT:    %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
// CHECK-NEXT:      relay.yield %x : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %y : tensor<4xf32>
// CHECK-NEXT:    } {note}
// CHECK-NEXT:    func.return %r
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s, %r = relay.if %c : tensor<i1> -> (tensor<4xf32>, tensor<4xf32>) {
    %a = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %a, %x : tensor<4xf32>, tensor<4xf32>
  } else {
    %b = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b, %y : tensor<4xf32>, tensor<4xf32>
  } {note}
  func.return %r : tensor<4xf32>
}

// -----

// So does that of a match, and what is used by none of its cases.
//
// CHECK-LABEL: @match(
// CHECK-NEXT:    relay.match %o : !relay.adt<@Opt, []> -> (tensor<4xf32>) {
// CHECK-NEXT:      case @Opt::@Some(%a: tensor<4xf32>) {
// CHECK-NEXT:        relay.yield %a : tensor<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      case _ {
// CHECK-NEXT:        relay.yield %x : tensor<4xf32>
relay.type_data @Opt [@Some(tensor<4xf32>), @None()]
func.func @match(%o: !relay.adt<@Opt, []>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r, %s = relay.match %o : !relay.adt<@Opt, []> -> (tensor<4xf32>, tensor<4xf32>) {
    case @Opt::@Some(%a: tensor<4xf32>) {
      relay.yield %a, %0 : tensor<4xf32>, tensor<4xf32>
    }
    case _ {
      relay.yield %x, %0 : tensor<4xf32>, tensor<4xf32>
    }
  }
  func.return %r : tensor<4xf32>
}

// -----

// A branch with effects stays without its results.
//
// CHECK-LABEL: @effects(
// CHECK-NEXT:    relay.if %c : tensor<i1> {
// CHECK-NEXT:      "test.op"() : () -> ()
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @effects(%c: tensor<i1>, %x: tensor<4xf32>) {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %a = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    "test.op"() : () -> ()
    relay.yield %a : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return
}

// -----

// Results of nested branches go from the outside in.
//
// CHECK-LABEL: @nested(
// CHECK-NEXT:    %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[I:.*]] = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
// CHECK-NEXT:        relay.yield %x : tensor<4xf32>
func.func @nested(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r, %s = relay.if %c : tensor<i1> -> (tensor<4xf32>, tensor<4xf32>) {
    %0, %1 = relay.if %c : tensor<i1> -> (tensor<4xf32>, tensor<4xf32>) {
      %2 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %x, %2 : tensor<4xf32>, tensor<4xf32>
    } else {
      relay.yield %x, %x : tensor<4xf32>, tensor<4xf32>
    }
    relay.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  } else {
    relay.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
