// RUN: xrelay-opt --split-input-file -p lower-to-bytecode %s | filecheck %s

// A constructor's tag is its index in the definition, which is gone.
//
// CHECK-NOT:  relay.type_data
// CHECK:      bytecode.func @construct
// CHECK-NEXT:   bytecode.alloc_adt r1, 0()
// CHECK-NEXT:   bytecode.alloc_adt r2, 1(r0, r1)
// CHECK-NEXT:   bytecode.ret r2
!l = !relay.adt<@List, [tensor<i32>], #relay.device<cpu:0>>
!t = tensor<i32, #relay.device<cpu:0>>
relay.type_data @List<["A"]> [
  @Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)
]
func.func @construct(%x: !t) -> !l {
  %nil = relay.construct @Nil() : () -> !l
  %l = relay.construct @Cons(%x, %nil) : (!t, !l) -> !l
  func.return %l : !l
}

// -----

// A tag other than 0 needs no constant, and the last constructor no test. A case reads its variables,
// and moves its results into registers of their own, so that a case that yields a parameter does not
// let the others overwrite it.
//
// CHECK:      bytecode.func @match ("l" : !bytecode.object<#cpu0>, "x" : tensor<i32, #cpu0>) registers
// CHECK-NEXT:   bytecode.get_tag [[TAG:r[0-9]+]], r0
// CHECK-NEXT:   bytecode.if [[TAG]] 3, 1
// CHECK-NEXT:   bytecode.move [[RESULT:r[0-9]+]], r1
// CHECK-NEXT:   bytecode.goto 3
// CHECK-NEXT:   bytecode.get_field [[HEAD:r[0-9]+]], r0[0]
// CHECK-NEXT:   bytecode.move [[RESULT]], [[HEAD]]
// CHECK-NEXT:   bytecode.alloc_adt [[BOTH:r[0-9]+]], 0(r1, [[RESULT]])
// CHECK-NEXT:   bytecode.ret [[BOTH]]
!l = !relay.adt<@List, [tensor<i32>], #relay.device<cpu:0>>
!t = tensor<i32, #relay.device<cpu:0>>
relay.type_data @List<["A"]> [
  @Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)
]
func.func @match(%l: !l, %x: !t) -> tuple<!t, !t> {
  %r = relay.match %l : !l -> (!t) {
    case @List::@Nil() {
      relay.yield %x : !t
    }
    case @List::@Cons(%h: !t, _) {
      relay.yield %h : !t
    }
  }
  %both = relay.tuple %x, %r : (!t, !t) -> tuple<!t, !t>
  func.return %both : tuple<!t, !t>
}

// -----

// Every test of a nested pattern that fails jumps to the next case, which is there once.
//
// CHECK:      bytecode.func @nested
// CHECK-NEXT:   bytecode.get_tag [[TAG:r[0-9]+]], r0
// CHECK-NEXT:   bytecode.if [[TAG]] 1, 11
// CHECK-NEXT:   bytecode.get_field [[PAIR:r[0-9]+]], r0[0]
// CHECK-NEXT:   bytecode.get_field [[INNER:r[0-9]+]], [[PAIR]][1]
// CHECK-NEXT:   bytecode.get_tag [[B:r[0-9]+]], [[INNER]]
// CHECK-NEXT:   bytecode.if [[B]] 7, 1
// CHECK-NEXT:   bytecode.get_field [[REST:r[0-9]+]], r0[1]
// CHECK-NEXT:   bytecode.get_tag [[D:r[0-9]+]], [[REST]]
// CHECK-NEXT:   bytecode.if [[D]] 4, 1
// CHECK-NEXT:   bytecode.load_const [[X:r[0-9]+]], @const_0
// CHECK-NEXT:   bytecode.move [[RESULT:r[0-9]+]], [[X]]
// CHECK-NEXT:   bytecode.goto 3
// CHECK-NEXT:   bytecode.load_const [[Y:r[0-9]+]], @const_1
// CHECK-NEXT:   bytecode.move [[RESULT]], [[Y]]
// CHECK-NEXT:   bytecode.ret [[RESULT]]
!l = !relay.adt<@List, [tuple<tensor<i32>, !relay.adt<@List, [tensor<i32>]>>], #relay.device<cpu:0>>
!t = tensor<i32, #relay.device<cpu:0>>
relay.type_data @List<["A"]> [
  @Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)
]
func.func @nested(%l: !l) -> !t {
  %r = relay.match %l : !l -> (!t) {
    case @List::@Cons((_, @List::@Nil()), @List::@Nil()) {
      %x = relay.constant dense<1> : tensor<i32> on #relay.device<cpu:0>
      relay.yield %x : !t
    }
    case _ {
      %y = relay.constant dense<2> : tensor<i32> on #relay.device<cpu:0>
      relay.yield %y : !t
    }
  }
  func.return %r : !t
}

// -----

// A variable is the data itself, a tuple needs no test, and nothing follows a case that matches
// every value.
//
// CHECK:      bytecode.func @irrefutable
// CHECK-NEXT:   bytecode.get_field [[FIELD:r[0-9]+]], r0[1]
// CHECK-NEXT:   bytecode.move [[A:r[0-9]+]], [[FIELD]]
// CHECK-NEXT:   bytecode.move [[B:r[0-9]+]], r0
// CHECK-NEXT:   bytecode.alloc_adt [[BOTH:r[0-9]+]], 0([[A]], [[B]])
// CHECK-NEXT:   bytecode.ret [[BOTH]]
!t = tensor<i32, #relay.device<cpu:0>>
func.func @irrefutable(%p: tuple<!t, !t>) -> (!t, tuple<!t, !t>) {
  %r = relay.match %p : tuple<!t, !t> -> (!t) {
    case (_, %x: !t) {
      relay.yield %x : !t
    }
    case %never: tuple<!t, !t> {
      %y = relay.tuple_get_item %never[0] : (tuple<!t, !t>) -> !t
      relay.yield %y : !t
    }
  }
  %s = relay.match %p : tuple<!t, !t> -> (tuple<!t, !t>) {
    case %all: tuple<!t, !t> {
      relay.yield %all : tuple<!t, !t>
    }
  }
  func.return %r, %s : !t, tuple<!t, !t>
}

// -----

// A match without cases is fatal.
//
// CHECK:      bytecode.func @no_case
// CHECK-NEXT:   bytecode.fatal
// CHECK-NEXT:   bytecode.ret
!never = !relay.adt<@Never, [], #relay.device<cpu:0>>
!t = tensor<i32, #relay.device<cpu:0>>
relay.type_data @Never []
func.func @no_case(%n: !never) -> !t {
  %r = relay.match %n : !never -> (!t) {
  }
  func.return %r : !t
}

// -----

// The field that most cases test is tested first, and once. Only a value that no case matches is
// fatal.
//
// CHECK:      bytecode.func @shared
// CHECK-NEXT:   bytecode.get_field [[B:r[0-9]+]], r0[1]
// CHECK-NEXT:   bytecode.get_tag [[TAG_B:r[0-9]+]], [[B]]
// CHECK-NEXT:   bytecode.load_consti [[ONE:r[0-9]+]], 1
// CHECK-NEXT:   bytecode.if [[TAG_B]] eq [[ONE]] 11, 1
// CHECK-NEXT:   bytecode.if [[TAG_B]] 7, 1
// CHECK-NEXT:   bytecode.get_field [[A:r[0-9]+]], r0[0]
// CHECK-NEXT:   bytecode.get_tag [[TAG_A:r[0-9]+]], [[A]]
// CHECK-NEXT:   bytecode.load_consti [[ONE_A:r[0-9]+]], 1
// CHECK-NEXT:   bytecode.if [[TAG_A]] eq [[ONE_A]] 1, 6
// CHECK-NEXT:   bytecode.move [[RESULT:r[0-9]+]], r1
// CHECK-NEXT:   bytecode.goto 5
// CHECK-NEXT:   bytecode.get_field [[X:r[0-9]+]], [[B]][0]
// CHECK-NEXT:   bytecode.move [[RESULT]], [[X]]
// CHECK-NEXT:   bytecode.goto 2
// CHECK-NEXT:   bytecode.fatal
// CHECK-NEXT:   bytecode.ret [[RESULT]]
!d = !relay.adt<@Digit, [], #relay.device<cpu:0>>
!t = tensor<i32, #relay.device<cpu:0>>
relay.type_data @Digit [@Zero(), @One(), @Two(tensor<i32>)]
func.func @shared(%p: tuple<!d, !d>, %y: !t) -> !t {
  %r = relay.match partial %p : tuple<!d, !d> -> (!t) {
    case (@Digit::@One(), @Digit::@Zero()) {
      relay.yield %y : !t
    }
    case (_, @Digit::@Two(%x: !t)) {
      relay.yield %x : !t
    }
  }
  func.return %r : !t
}
