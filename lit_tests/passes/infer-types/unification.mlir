// RUN: xrelay-opt --split-input-file -p infer-types %s | filecheck %s

// The types of a closure follow from its call.
//
// CHECK-LABEL: @closure_is_called
// CHECK-SAME:  (%x: [[T:tensor<3x4xf32>]]) -> [[T]]
// CHECK:         relay.fn (%a: [[T]]) -> [[T]] {
// CHECK-NEXT:      relay.nn.relu %a : ([[T]]) -> [[T]]
// CHECK:         relay.call {{.*}} : ([[T]]) -> [[T]]
func.func @closure_is_called(%x: tensor<3x4xf32>) -> !relay.incomplete {
  %g = relay.fn (%a: !relay.incomplete) -> !relay.incomplete {
    %1 = relay.nn.relu %a : (!relay.incomplete) -> !relay.incomplete
    relay.yield %1 : !relay.incomplete
  }
  %y = relay.call %g(%x) : (tensor<3x4xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// -----

// Unknown types of one number are one type.
//
// CHECK-LABEL: @numbers
// CHECK:         relay.fn (%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
func.func @numbers(%x: tensor<4xi32>) -> !relay.incomplete {
  %g = relay.fn (%a: !relay.incomplete<7>, %b: !relay.incomplete<7>) -> !relay.incomplete<7> {
    relay.yield %a : !relay.incomplete<7>
  }
  %z = relay.fn (%f: (!relay.incomplete, !relay.incomplete) -> !relay.incomplete) -> !relay.incomplete {
    %r = relay.call %f(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> !relay.incomplete
    relay.yield %r : !relay.incomplete
  }
  %y = relay.call %z(%g) : ((!relay.incomplete<7>, !relay.incomplete<7>) -> !relay.incomplete<7>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// -----

// A recursive closure has one type, inside and outside.
//
// CHECK-LABEL: @recursive
// CHECK:         relay.fn rec(%self) (%a: tensor<i32>) -> tensor<i32> {
func.func @recursive(%x: tensor<i32>, %c: tensor<i1>) -> tensor<i32> {
  %f = relay.fn rec(%self) (%a: !relay.incomplete<0>) -> !relay.incomplete<1> {
    %r = relay.if %c : tensor<i1> -> (!relay.incomplete) {
      relay.yield %a : !relay.incomplete<0>
    } else {
      %0 = relay.call %self(%a) : (!relay.incomplete<0>) -> !relay.incomplete<1>
      relay.yield %0 : !relay.incomplete<1>
    }
    relay.yield %r : !relay.incomplete
  }
  %y = relay.call %f(%x) : (tensor<i32>) -> tensor<i32>
  func.return %y : tensor<i32>
}

// -----

// A cell holds what is written to it, a list what it is made of.
//
// CHECK-LABEL: @cells_and_lists
// CHECK:         relay.ref_create {{.*}} -> !relay.ref<!relay.adt<@List, [tensor<i32>]>>
// CHECK:         relay.construct @Cons({{.*}} -> !relay.adt<@List, [tensor<i32>]>
relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]
func.func @cells_and_lists(%x: tensor<i32>) -> !relay.incomplete {
  %n = relay.construct @Nil() : () -> !relay.adt<@List, [!relay.incomplete<0>]>
  %r = relay.ref_create %n : (!relay.adt<@List, [!relay.incomplete<0>]>) -> !relay.incomplete
  %l = relay.construct @Cons(%x, %n) : (tensor<i32>, !relay.adt<@List, [!relay.incomplete<0>]>) -> !relay.adt<@List, [!relay.incomplete]>
  %u = relay.ref_write %r, %l : (!relay.incomplete, !relay.adt<@List, [!relay.incomplete]>) -> tuple<>
  func.return %r : !relay.incomplete
}

// -----

// One result of unknown type stands for the tuple of all.
//
// CHECK-LABEL: @split
// CHECK-SAME:  -> tuple<tensor<2x4xf32>, tensor<2x4xf32>>
// CHECK:         %[[Y:.*]], %[[Z:.*]] = relay.split %x {{.*}} -> (tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-NEXT:    relay.tuple %[[Y]], %[[Z]]
func.func @split(%x: tensor<4x4xf32>) -> !relay.incomplete {
  %y = relay.split %x {indices_or_sections = 2 : i64, axis = 0 : i64} : (tensor<4x4xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// -----

// What the cases of a match yield, and the variables of its patterns.
//
// CHECK-LABEL: @first
// CHECK:         case @Pair::@Pair(%a: tensor<i32>, _)
relay.type_data @Pair<["A", "B"]> [@Pair(!relay.type_var<A>, !relay.type_var<B>)]
func.func @first(%x: tensor<i32>, %y: tensor<f32>) -> !relay.incomplete {
  %f = relay.fn (%p: !relay.incomplete) -> !relay.incomplete {
    %r = relay.match %p : !relay.incomplete -> (!relay.incomplete) {
      case @Pair::@Pair(%a: !relay.incomplete, _) {
        relay.yield %a : !relay.incomplete
      }
    }
    relay.yield %r : !relay.incomplete
  }
  %p = relay.construct @Pair(%x, %y) : (tensor<i32>, tensor<f32>) -> !relay.adt<@Pair, [!relay.incomplete, !relay.incomplete]>
  %r = relay.call %f(%p) : (!relay.adt<@Pair, [!relay.incomplete, !relay.incomplete]>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// -----

// An instance of a closure with type parameters, once the closure's type is known.
//
// CHECK-LABEL: @instance
// CHECK-SAME:  -> tuple<tensor<f32>, tensor<i32>>
// CHECK:         relay.fn (%x: !relay.type_var<A>) -> tuple<!relay.type_var<A>, tensor<i32>>
// CHECK:         relay.instantiate %pair<[tensor<f32>]>
func.func @instance(%a: tensor<f32>, %n: tensor<i32>) -> !relay.incomplete {
  %pair = relay.fn (%x: !relay.type_var<A>) -> !relay.incomplete attributes {type_params = ["A"]} {
    %t = relay.tuple %x, %n : (!relay.type_var<A>, tensor<i32>) -> !relay.incomplete
    relay.yield %t : !relay.incomplete
  }
  %f = relay.instantiate %pair<[!relay.incomplete]> : ((!relay.type_var<A>) -> !relay.incomplete) -> !relay.incomplete
  %r = relay.call %f(%a) : (tensor<f32>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
