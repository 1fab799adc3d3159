// RUN: xrelay-opt -t relay-text %s | filecheck %s

// Functions are lets; a recursive one names itself.
//
// CHECK:      def @closures(%x: int32) -> int32 {
// CHECK-NEXT:   let %f = fn (%a: int32) -> fn (int32) -> int32 {
// CHECK-NEXT:     let %v = fn (%b: int32) -> int32 {
// CHECK-NEXT:       add(%a, %b)
// CHECK-NEXT:     };
// CHECK-NEXT:     %v
// CHECK-NEXT:   };
// CHECK-NEXT:   let %loop = fn (%n: int32) -> int32 {
// CHECK-NEXT:     let %m = %loop(%n);
// CHECK-NEXT:     %m
// CHECK-NEXT:   };
// CHECK-NEXT:   let %g = %f(%x);
// CHECK-NEXT:   let %r = %g(2);
// CHECK-NEXT:   let %s = %loop(%r);
// CHECK-NEXT:   %s
// CHECK-NEXT: }
func.func @closures(%x: tensor<i32>) -> tensor<i32> {
  %f = relay.fn (%a: tensor<i32>) -> (tensor<i32>) -> tensor<i32> {
    %0 = relay.fn (%b: tensor<i32>) -> tensor<i32> {
      %s = relay.add %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    }
    relay.yield %0 : (tensor<i32>) -> tensor<i32>
  }
  %loop = relay.fn rec(%self) (%n: tensor<i32>) -> tensor<i32> {
    %m = relay.call %self(%n) : (tensor<i32>) -> tensor<i32>
    relay.yield %m : tensor<i32>
  }
  %g = relay.call %f(%x) : (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
  %two = relay.constant dense<2> : tensor<i32>
  %r = relay.call %g(%two) : (tensor<i32>) -> tensor<i32>
  %s = relay.call %loop(%r) : (tensor<i32>) -> tensor<i32>
  func.return %s : tensor<i32>
}

// Attributes of functions stand behind their parameters.
//
// CHECK:      def @attributes(%x: int32, Inline=1, Compiler="a\"b", relay.shape=[1, 2], relay.flag=True) -> int32 {
// CHECK-NEXT:   let %f = fn (%p0: int32, Primitive=1, virtual_device=meta[VirtualDevice][0]) -> int32 {
func.func @attributes(%x: tensor<i32>) -> tensor<i32> attributes {relay.attrs = {Inline = 1 : i64, Compiler = "a\22b", relay.shape = [1 : i64, 2 : i64], relay.flag = true}} {
  %f = relay.fn (%0: tensor<i32>) -> tensor<i32> attributes {attrs = {Primitive = 1 : i64}, result_device = #relay.device<cpu:0>} {
    relay.yield %0 : tensor<i32>
  }
  %r = relay.call %f(%x) : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// Type parameters, calls of generic functions, and global functions as values.
//
// CHECK:      def @id[A, B](%x: A, %y: B) -> A {
// CHECK:      def @uses(%x: int32, %f: fn (int32, bool) -> int32, %c: bool) -> int32 {
// CHECK-NEXT:   let %p = @id(%x, %c);
// CHECK-NEXT:   let %q = @uses(%p, @id, %c);
// CHECK-NEXT:   %q
func.func @id(%x: !relay.type_var<A>, %y: !relay.type_var<B>) -> !relay.type_var<A> attributes {relay.type_params = ["A", "B"]} {
  func.return %x : !relay.type_var<A>
}
func.func @uses(%x: tensor<i32>, %f: (tensor<i32>, tensor<i1>) -> tensor<i32>, %c: tensor<i1>) -> tensor<i32> {
  %p = relay.invoke @id<[tensor<i32>, tensor<i1>]>(%x, %c) : (tensor<i32>, tensor<i1>) -> tensor<i32>
  %g = relay.global @id<[tensor<i32>, tensor<i1>]> : (tensor<i32>, tensor<i1>) -> tensor<i32>
  %q = func.call @uses(%p, %g, %c) : (tensor<i32>, (tensor<i32>, tensor<i1>) -> tensor<i32>, tensor<i1>) -> tensor<i32>
  func.return %q : tensor<i32>
}

// A function value that is called is no direct call.
//
// CHECK:      def @value(%x: int32) -> int32 {
// CHECK-NEXT:   %[[F:[0-9]+]] = @value;
// CHECK-NEXT:   let %r = %[[F]](%x);
// CHECK-NEXT:   %r
func.func @value(%x: tensor<i32>) -> tensor<i32> {
  %f = relay.global @value : (tensor<i32>) -> tensor<i32>
  %r = relay.call %f(%x) : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// A closure of a global function is a function literal that calls it.
//
// CHECK:      def @adds(%k: int32, %x: int32) -> int32 {
// CHECK:      def @closes(%k: int32, %p0: int32) -> int32 {
// CHECK-NEXT:   let %f = fn (%p1: int32) -> int32 {
// CHECK-NEXT:     let %v = @adds(%k, %p1);
// CHECK-NEXT:     %v
// CHECK-NEXT:   };
// CHECK-NEXT:   let %r = %f(%p0);
// CHECK-NEXT:   %r
func.func @adds(%k: tensor<i32>, %x: tensor<i32>) -> tensor<i32> {
  %r = relay.add %k, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}
func.func @closes(%k: tensor<i32>, %p0: tensor<i32>) -> tensor<i32> {
  %f = relay.closure @adds(%k) : (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
  %r = relay.call %f(%p0) : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// Names are unique in their function; those of parameters stay as they were in Relay.
// (`%x.1` could be field 1 of `%x`, so nothing else is called `%x`.)
//
// CHECK:      def @names(%conv1/w-0: int32, %x_1: int32, %x.1: int32, %p0: int32) -> int32 {
// CHECK-NEXT:   let %x1 = @names(%x_1, %x.1, %p0, %conv1/w-0);
// CHECK-NEXT:   let %x2 = @names(%x1, %x1, %x1, %x1);
// CHECK-NEXT:   %x2
func.func @names(%a: tensor<i32> {relay.name = "conv1/w-0"}, %b: tensor<i32> {relay.name = "x_1"}, %x.1: tensor<i32>, %0: tensor<i32>) -> tensor<i32> {
  %x = func.call @names(%b, %x.1, %0, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %x_2 = func.call @names(%x, %x, %x, %x) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %x_2 : tensor<i32>
}

// A tensor of the side file is a parameter behind the others.
//
// CHECK:      def @weights(%x: Tensor[(2, 4), float32], %fc/w: Tensor[(3, 4), float32]) -> Tensor[(2, 3), float32] {
// CHECK-NEXT:   nn.dense(%x, %fc/w, units=3)
func.func @weights(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %w = relay.param "fc/w" : tensor<3x4xf32>
  %y = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
