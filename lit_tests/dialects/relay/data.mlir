// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A data type has constructors, at type parameters; an extern one has none.
//
// CHECK:      relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]
// CHECK-NEXT: relay.type_data @Pair<["A", "B"]> [@Pair(!relay.type_var<A>, !relay.type_var<B>)] {note}
// CHECK-NEXT: relay.type_data extern @Storage []
relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]
relay.type_data @Pair<["A", "B"]> [@Pair(!relay.type_var<A>, !relay.type_var<B>)] {note}
relay.type_data extern @Storage []

// A value is made by a constructor.
//
// CHECK-LABEL: @construct
// CHECK:         %n = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<i32>]>
// CHECK-NEXT:    %l = relay.construct @Cons(%x, %n) {note} : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
func.func @construct(%x: tensor<i32>) -> !relay.adt<@List, [tensor<i32>]> {
  %n = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<i32>]>
  %l = relay.construct @Cons(%x, %n) {note} : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
  func.return %l : !relay.adt<@List, [tensor<i32>]>
}

// All of a value is on one device, which its type names; so do variables of types.
//
// CHECK-LABEL: @placed
// CHECK-SAME:    %s: !relay.adt<@Storage, [], #cpu0>
// CHECK-SAME:    %t: !relay.adt<@List, [tensor<4xf32>], #cuda1_global>
// CHECK-SAME:    %v: !relay.type_var<A, #cpu0>
// CHECK-SAME:    %r: !relay.ref<tensor<4xf32, #cpu0>>
func.func @placed(
  %s: !relay.adt<@Storage, [], #relay.device<cpu:0>>,
  %t: !relay.adt<@List, [tensor<4xf32>], #relay.device<cuda:1, scope = "global">>,
  %v: !relay.type_var<A, #relay.device<cpu:0>>,
  %r: !relay.ref<tensor<4xf32, #relay.device<cpu:0>>>
) attributes {relay.type_params = ["A"]} {
  func.return
}
