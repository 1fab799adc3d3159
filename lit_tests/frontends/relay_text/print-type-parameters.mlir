// RUN: xrelay-opt %s -t relay-text | filecheck %s

// A closure with type parameters is bound by a let; its instances are its name.
//
// CHECK:      def @main(%x: Tensor[(4), float32]) -> (Tensor[(4), float32], int32) {
// CHECK-NEXT:   let %id = fn [A] (%a: A) -> A {
// CHECK-NEXT:     %a
// CHECK-NEXT:   };
// CHECK-NEXT:   let %[[A:.*]] = %id(%x);
// CHECK-NEXT:   let %[[B:.*]] = %id(1);
// CHECK-NEXT:   (%[[A]], %[[B]])
func.func @main(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>> {
  %id = relay.fn (%a: !relay.type_var<A>) -> !relay.type_var<A> attributes {type_params = ["A"]} {
    relay.yield %a : !relay.type_var<A>
  }
  %f = relay.instantiate %id<[tensor<4xf32>]> : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %g = relay.instantiate %id<[tensor<i32>]> : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((tensor<i32>) -> tensor<i32>)
  %0 = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.constant dense<1> : tensor<i32>
  %2 = relay.call %g(%1) : (tensor<i32>) -> tensor<i32>
  %3 = relay.tuple %0, %2 : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
  func.return %3 : tuple<tensor<4xf32>, tensor<i32>>
}
