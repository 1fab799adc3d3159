// RUN: xrelay-opt -t relay-text %s | filecheck %s

// Data types come first, then functions, in their order.
//
// CHECK:      #[version = "0.0.5"]
// CHECK-NEXT: type List[A] {
// CHECK-NEXT:   Nil,
// CHECK-NEXT:   Cons(A, List[A]),
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: extern type Storage
// CHECK-EMPTY:
relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]

// What is used in one branch only is computed where it stood: here in the branch …
//
// CHECK-NEXT: def @inside(%c: bool, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
// CHECK-NEXT:   if (%c) {
// CHECK-NEXT:     %0 = exp(%x);
// CHECK-NEXT:     log(%0)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %x
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @inside(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %b = relay.log %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// … and here before it.
//
// CHECK:      def @before(%c: bool, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
// CHECK-NEXT:   let %a = exp(%x);
// CHECK-NEXT:   if (%c) {
// CHECK-NEXT:     log(%a)
func.func @before(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %b = relay.log %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// What both branches use is a graph binding before the choice.
//
// CHECK:      def @both(%c: bool, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
// CHECK-NEXT:   %[[A:[0-9]+]] = exp(%x);
// CHECK-NEXT:   if (%c) {
// CHECK-NEXT:     log(%[[A]])
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %[[A]]
func.func @both(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %b = relay.log %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  } else {
    relay.yield %a : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A choice in which something happens is a let.
//
// CHECK:      def @happens(%c: bool, %x: int32, %r: ref(int32)) -> () {
// CHECK-NEXT:   let %u = if (%c) {
// CHECK-NEXT:     let %w = ref_write(%r, %x);
// CHECK-NEXT:     %w
// CHECK-NEXT:   } else {
// CHECK-NEXT:     ()
// CHECK-NEXT:   };
// CHECK-NEXT:   %u
// CHECK-NEXT: }
func.func @happens(%c: tensor<i1>, %x: tensor<i32>, %r: !relay.ref<tensor<i32>>) -> tuple<> {
  %u = relay.if %c : tensor<i1> -> (tuple<>) {
    %w = relay.ref_write %r, %x : (!relay.ref<tensor<i32>>, tensor<i32>) -> tuple<>
    relay.yield %w : tuple<>
  } else {
    %e = relay.tuple : () -> tuple<>
    relay.yield %e : tuple<>
  }
  func.return %u : tuple<>
}

// Patterns bind variables, each with a name of its own.
//
// CHECK:      def @head(%l: List[(int32, int32)], %z: int32) -> int32 {
// CHECK-NEXT:   match (%l) {
// CHECK-NEXT:     Cons((%a, _), Cons(%b, _)) => {
// CHECK-NEXT:       %[[P:[0-9]+]] = %b.1;
// CHECK-NEXT:       add(%a, %[[P]])
// CHECK-NEXT:     },
// CHECK-NEXT:     Cons((_, %a1), _) => {
// CHECK-NEXT:       %a1
// CHECK-NEXT:     },
// CHECK-NEXT:     Nil => {
// CHECK-NEXT:       %z
// CHECK-NEXT:     },
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @head(%l: !relay.adt<@List, [tuple<tensor<i32>, tensor<i32>>]>, %z: tensor<i32>) -> tensor<i32> {
  %r = relay.match %l : !relay.adt<@List, [tuple<tensor<i32>, tensor<i32>>]> -> (tensor<i32>) {
    case @List::@Cons((%a: tensor<i32>, _), @List::@Cons(%b: tuple<tensor<i32>, tensor<i32>>, _)) {
      %p = relay.tuple_get_item %b[1] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>
      %s = relay.add %a, %p : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    }
    case @List::@Cons((_, %a: tensor<i32>), _) {
      relay.yield %a : tensor<i32>
    }
    case @List::@Nil() {
      relay.yield %z : tensor<i32>
    }
  }
  func.return %r : tensor<i32>
}

// A match that need not cover all has a question mark.
//
// CHECK:      def @partial(%x: int32) -> int32 {
// CHECK-NEXT:   match? (%x) {
// CHECK-NEXT:     _ => {
func.func @partial(%x: tensor<i32>) -> tensor<i32> {
  %r = relay.match partial %x : tensor<i32> -> (tensor<i32>) {
    case _ {
      relay.yield %x : tensor<i32>
    }
  }
  func.return %r : tensor<i32>
}

relay.type_data extern @Storage []
