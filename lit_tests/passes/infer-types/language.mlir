// RUN: xrelay-opt --split-input-file -p infer-types %s | filecheck %s

// The result type of a match is that of its cases.
//
// CHECK-LABEL: @match
// CHECK:         relay.match %{{.*}} -> (tensor<4xf32>)
relay.type_data @Box [@Box(tensor<4xf32>), @Empty()]
func.func @match(%b: !relay.adt<@Box, []>, %x: tensor<4xf32>) -> !relay.incomplete {
  %r = relay.match %b : !relay.adt<@Box, []> -> (!relay.incomplete) {
    case @Box::@Box(%y: tensor<4xf32>) {
      %n = relay.negative %y : (tensor<4xf32>) -> !relay.incomplete
      relay.yield %n : !relay.incomplete
    }
    case _ {
      relay.yield %x : tensor<4xf32>
    }
  }
  func.return %r : !relay.incomplete
}

// -----

// A closure's result follows from its body, a call's from the callee.
//
// CHECK-LABEL: @closure
// CHECK:         relay.fn (%a: tensor<4xf32>) -> tensor<2x2xf32>
// CHECK:         relay.call %{{.*}} : (tensor<4xf32>) -> tensor<2x2xf32>
// CHECK:         relay.ref_read %{{.*}} : (!relay.ref<tensor<2x2xf32>>) -> tensor<2x2xf32>
func.func @closure(%x: tensor<4xf32>) -> !relay.incomplete {
  %f = relay.fn (%a: tensor<4xf32>) -> !relay.incomplete {
    %r = relay.reshape %a {newshape = array<i64: 2, 2>} : (tensor<4xf32>) -> !relay.incomplete
    relay.yield %r : !relay.incomplete
  }
  %y = relay.call %f(%x) : (tensor<4xf32>) -> !relay.incomplete
  %c = relay.ref_create %y : (!relay.incomplete) -> !relay.incomplete
  %z = relay.ref_read %c : (!relay.incomplete) -> !relay.incomplete
  func.return %z : !relay.incomplete
}

// -----

// The result type of a match without cases is the declared one.
//
// CHECK-LABEL: @no_case
// CHECK:         relay.match %{{.*}} -> (tensor<4xf32>) {
// CHECK:         relay.negative %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
relay.type_data @Never []
func.func @no_case(%b: !relay.adt<@Never, []>) -> !relay.incomplete {
  %r = relay.match %b : !relay.adt<@Never, []> -> (tensor<4xf32>) {
  }
  %n = relay.negative %r : (tensor<4xf32>) -> !relay.incomplete
  func.return %n : !relay.incomplete
}

// -----

// The contents of a reference are filled in at any depth; known parts stay.
//
// CHECK-LABEL: @references
// CHECK:         relay.ref_create %x : ({{.*}}) -> !relay.ref<tensor<4xf32>>
// CHECK:         relay.tuple {{.*}} -> tuple<!relay.ref<tensor<4xf32>>, tensor<4xf32>>
// CHECK:         relay.ref_create {{.*}} -> !relay.ref<tuple<!relay.ref<tensor<4xf32>>, tensor<4xf32>>>
func.func @references(%x: tensor<4xf32>) -> !relay.ref<!relay.incomplete> {
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<!relay.incomplete>
  %t = relay.tuple %r, %x : (!relay.ref<!relay.incomplete>, tensor<4xf32>)
    -> tuple<!relay.ref<!relay.incomplete>, tensor<4xf32>>
  %s = relay.ref_create %t : (tuple<!relay.ref<!relay.incomplete>, tensor<4xf32>>)
    -> !relay.ref<tuple<!relay.incomplete, tensor<4xf32>>>
  func.return %r : !relay.ref<!relay.incomplete>
}

// -----

// The type arguments of a data type follow from the fields of a constructor, and from branches.
//
// CHECK-LABEL: @data_types
// CHECK:         relay.construct @Cons(%x, %end) : {{.*}} -> !relay.adt<@List, [tensor<4xf32>]>
// CHECK:         relay.if %c : tensor<i1> -> (!relay.adt<@List, [tensor<4xf32>]>)
// CHECK:         relay.match {{.*}} -> (!relay.ref<!relay.adt<@List, [tensor<4xf32>]>>)
relay.type_data @List<["A"]> [
  @Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)
]
func.func @data_types(%c: tensor<i1>, %x: tensor<4xf32>, %end: !relay.adt<@List, [tensor<4xf32>]>) {
  %l = relay.construct @Cons(%x, %end) : (tensor<4xf32>, !relay.adt<@List, [tensor<4xf32>]>)
    -> !relay.adt<@List, [!relay.incomplete]>
  %i = relay.if %c : tensor<i1> -> (!relay.adt<@List, [!relay.incomplete]>) {
    relay.yield %l : !relay.adt<@List, [!relay.incomplete]>
  } else {
    relay.yield %end : !relay.adt<@List, [tensor<4xf32>]>
  }
  %m = relay.match partial %i : !relay.adt<@List, [!relay.incomplete]>
    -> (!relay.ref<!relay.adt<@List, [!relay.incomplete]>>) {
    case _ {
      %r = relay.ref_create %i : (!relay.adt<@List, [!relay.incomplete]>) -> !relay.incomplete
      relay.yield %r : !relay.incomplete
    }
  }
  func.return
}

// -----

// Branches whose dims conflict have a result if the declared type leaves these dims open.
//
// CHECK-LABEL: @open_result
// CHECK:         relay.if %c : tensor<i1> -> (tensor<?x3xf32>) {
func.func @open_result(%c: tensor<i1>, %x: tensor<4x3xf32>, %y: tensor<2x3xf32>) -> tensor<?x3xf32> {
  %z = relay.if %c : tensor<i1> -> (tensor<?x3xf32>) {
    relay.yield %x : tensor<4x3xf32>
  } else {
    relay.yield %y : tensor<2x3xf32>
  }
  func.return %z : tensor<?x3xf32>
}
