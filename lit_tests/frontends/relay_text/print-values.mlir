// RUN: xrelay-opt -t relay-text %s | filecheck %s

// A value is a graph binding; what ends a block stands without a name; a scalar constant that is
// used once stands where it is used.
//
// CHECK:      #[version = "0.0.5"]
// CHECK-NEXT: def @nodes(%x: Tensor[(4), float32], %y: Tensor[(4), float32]) -> Tensor[(4), float32] {
// CHECK-NEXT:   %0 = exp(%x);
// CHECK-NEXT:   %1 = add(%0, 2f);
// CHECK-NEXT:   %2 = multiply(%1, %1);
// CHECK-NEXT:   subtract(%2, %y)
// CHECK-NEXT: }
func.func @nodes(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.constant dense<2.0> : tensor<f32>
  %b = relay.add %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = relay.multiply %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.subtract %d, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// A node is computed where it is, in any order; what nothing uses is a let.
//
// CHECK:      def @lets(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
// CHECK-NEXT:   %3 = exp(%x);
// CHECK-NEXT:   let %unused = sin(%x);
// CHECK-NEXT:   let %_ = cos(%x);
// CHECK-NEXT:   %4 = log(%x);
// CHECK-NEXT:   subtract(%4, %3)
// CHECK-NEXT: }
func.func @lets(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %unused = relay.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = relay.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.subtract %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// Calls, and what cells are used for, are lets.
//
// CHECK:      def @effects(%x: int32, %y: int32) -> int32 {
// CHECK-NEXT:   let %r = ref(%x);
// CHECK-NEXT:   let %_ = ref_write(%r, %y);
// CHECK-NEXT:   let %a = ref_read(%r);
// CHECK-NEXT:   let %b = @effects(%a, 1);
// CHECK-NEXT:   %b
// CHECK-NEXT: }
func.func @effects(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %r = relay.ref_create %x : (tensor<i32>) -> !relay.ref<tensor<i32>>
  %0 = relay.ref_write %r, %y : (!relay.ref<tensor<i32>>, tensor<i32>) -> tuple<>
  %a = relay.ref_read %r : (!relay.ref<tensor<i32>>) -> tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %b = func.call @effects(%a, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %b : tensor<i32>
}

// Tuples stand for lists of operands and of results; a projection is a step of its own.
//
// CHECK:      def @tuples(%x: Tensor[(4, 2), float32], %t: ((int32, bool), ())) -> (Tensor[(4, 2), float32], bool, (int32)) {
// CHECK-NEXT:   %5 = split(%x, indices_or_sections=2);
// CHECK-NEXT:   %6 = %5.0;
// CHECK-NEXT:   %7 = %5.1;
// CHECK-NEXT:   %8 = (%7, %6);
// CHECK-NEXT:   %9 = concatenate(%8);
// CHECK-NEXT:   %10 = %t.0;
// CHECK-NEXT:   %11 = %10.1;
// CHECK-NEXT:   %12 = %10.0;
// CHECK-NEXT:   %13 = (%12,);
// CHECK-NEXT:   (%9, %11, %13)
// CHECK-NEXT: }
func.func @tuples(%x: tensor<4x2xf32>, %t: tuple<tuple<tensor<i32>, tensor<i1>>, tuple<>>) -> tuple<tensor<4x2xf32>, tensor<i1>, tuple<tensor<i32>>> {
  %a, %b = relay.split %x {indices_or_sections = 2} : (tensor<4x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  %c = relay.concatenate %b, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %d = relay.tuple_get_item %t[0] : (tuple<tuple<tensor<i32>, tensor<i1>>, tuple<>>) -> tuple<tensor<i32>, tensor<i1>>
  %e = relay.tuple_get_item %d[1] : (tuple<tensor<i32>, tensor<i1>>) -> tensor<i1>
  %f = relay.tuple_get_item %d[0] : (tuple<tensor<i32>, tensor<i1>>) -> tensor<i32>
  %g = relay.tuple %f : (tensor<i32>) -> tuple<tensor<i32>>
  %h = relay.tuple %c, %e, %g : (tensor<4x2xf32>, tensor<i1>, tuple<tensor<i32>>) -> tuple<tensor<4x2xf32>, tensor<i1>, tuple<tensor<i32>>>
  func.return %h : tuple<tensor<4x2xf32>, tensor<i1>, tuple<tensor<i32>>>
}

// Several results of a function are a tuple; none are the empty one.
//
// CHECK:      def @several(%x: int32) -> (int32, int32) {
// CHECK-NEXT:   (%x, %x)
// CHECK:      def @none() -> () {
// CHECK-NEXT:   ()
func.func @several(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  func.return %x, %x : tensor<i32>, tensor<i32>
}
func.func @none() {
  func.return
}
