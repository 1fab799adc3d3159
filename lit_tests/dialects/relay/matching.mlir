// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]

// The variables of nested patterns, left to right, are what the region takes.
//
// CHECK-LABEL: @nested
// CHECK:         %r = relay.match %l : !relay.adt<@List, [tuple<tensor<i32>, tensor<i32>>]> -> (tensor<i32>) {
// CHECK-NEXT:      case @List::@Cons((%a: tensor<i32>, _), @List::@Cons(%b: tuple<tensor<i32>, tensor<i32>>, _)) {
// CHECK-NEXT:        relay.tuple_get_item %b[1]
// CHECK:             relay.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      case @List::@Cons(%p: tuple<tensor<i32>, tensor<i32>>, %t: !relay.adt<@List, [tuple<tensor<i32>, tensor<i32>>]>) {
// CHECK-NEXT:        relay.yield %zero : tensor<i32>
// CHECK-NEXT:      }
// CHECK-NEXT:      case @List::@Nil() {
// CHECK-NEXT:        relay.yield %zero : tensor<i32>
// CHECK-NEXT:      }
// CHECK-NEXT:    } {note}
func.func @nested(%l: !relay.adt<@List, [tuple<tensor<i32>, tensor<i32>>]>, %zero: tensor<i32>) -> tensor<i32> {
  %r = relay.match %l : !relay.adt<@List, [tuple<tensor<i32>, tensor<i32>>]> -> (tensor<i32>) {
    case @List::@Cons((%a: tensor<i32>, _), @List::@Cons(%b: tuple<tensor<i32>, tensor<i32>>, _)) {
      %c = relay.tuple_get_item %b[1] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>
      %d = relay.add %a, %c : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %d : tensor<i32>
    }
    case @List::@Cons(%p: tuple<tensor<i32>, tensor<i32>>, %t: !relay.adt<@List, [tuple<tensor<i32>, tensor<i32>>]>) {
      relay.yield %zero : tensor<i32>
    }
    case @List::@Nil() {
      relay.yield %zero : tensor<i32>
    }
  } {note}
  func.return %r : tensor<i32>
}

// A partial match need not cover all; one without cases covers nothing.
//
// CHECK-LABEL: @partial
// CHECK:         relay.match partial %x : tensor<i32> -> (tensor<i32>) {
// CHECK-NEXT:      case %y: tensor<i32> {
// CHECK-NEXT:        relay.yield %y : tensor<i32>
// CHECK-NEXT:      }
// CHECK-NEXT:      case _ {
// CHECK-NEXT:        relay.yield %x : tensor<i32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.match partial %x : tensor<i32> -> (tensor<i32>) {
// CHECK-NEXT:    }
func.func @partial(%x: tensor<i32>) {
  %r = relay.match partial %x : tensor<i32> -> (tensor<i32>) {
    case %y: tensor<i32> {
      relay.yield %y : tensor<i32>
    }
    case _ {
      relay.yield %x : tensor<i32>
    }
  }
  %s = relay.match partial %x : tensor<i32> -> (tensor<i32>) {
  }
  func.return
}

// What has no values needs no case; nor does what a value of it would be in.
//
// CHECK-LABEL: @never
// CHECK:         relay.match %never : !relay.adt<@Never, []> -> (tensor<i32>) {
// CHECK-NEXT:    }
// CHECK:         relay.match %list : !relay.adt<@List, [!relay.adt<@Never, []>]> -> () {
// CHECK-NEXT:      case @List::@Nil() {
// CHECK-NEXT:        relay.yield
// CHECK-NEXT:      }
// CHECK-NEXT:    }
relay.type_data @Never []
func.func @never(%never: !relay.adt<@Never, []>, %list: !relay.adt<@List, [!relay.adt<@Never, []>]>) {
  %r = relay.match %never : !relay.adt<@Never, []> -> (tensor<i32>) {
  }
  relay.match %list : !relay.adt<@List, [!relay.adt<@Never, []>]> -> () {
    case @List::@Nil() {
      relay.yield
    }
  }
  func.return
}

// Cases may cover a value together, and one of them what the others do.
//
// CHECK-LABEL: @together
// CHECK-COUNT-4: case (
func.func @together(%p: tuple<!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>>) {
  relay.match %p : tuple<!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>> -> () {
    case (@List::@Cons(_, _), @List::@Cons(%x: tensor<i32>, _)) {
      relay.yield
    }
    case (@List::@Nil(), _) {
      relay.yield
    }
    case (_, @List::@Nil()) {
      relay.yield
    }
    case (@List::@Nil(), @List::@Nil()) {
      relay.yield
    }
  }
  func.return
}
