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
