// RUN: xrelay-opt --split-input-file -p manifest-alloc %s | filecheck %s

// A copy between devices writes into a tensor on the destination.
//
// CHECK-LABEL: @copy
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[S]][0] : tensor<4xf32, #cuda0>
// CHECK-NEXT:    %[[Y:.*]] = memory.copy ins(%x : tensor<4xf32, #cpu0>) outs(%[[T]] : tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
// CHECK-NEXT:    func.return %[[Y]]
func.func @copy(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %y = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  func.return %y : tensor<4xf32, #relay.device<cuda:0>>
}

// -----

// A copy of a tuple copies its tensors, at any depth, and builds a new tuple.
//
// CHECK-LABEL: @nested_tuple
// CHECK-NEXT:    %[[I:.*]] = relay.tuple_get_item %t[0]
// CHECK-NEXT:    %[[X:.*]] = relay.tuple_get_item %[[I]][0]
// CHECK:         memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK:         %[[A:.*]] = memory.copy ins(%[[X]] :
// CHECK:         %[[J:.*]] = relay.tuple %[[A]] : {{.*}} -> tuple<tensor<4xf32, #cuda0>>
// CHECK:         %[[Y:.*]] = relay.tuple_get_item %t[1]
// CHECK:         memory.alloc_storage 8 align 64 : !memory.storage<#cuda0>
// CHECK:         %[[B:.*]] = memory.copy ins(%[[Y]] :
// CHECK:         %[[U:.*]] = relay.tuple %[[J]], %[[B]] :
// CHECK:         func.return %[[U]]
func.func @nested_tuple(%t: tuple<tuple<tensor<4xf32, #relay.device<cpu:0>>>, tensor<2xi32, #relay.device<cpu:0>>>) -> tuple<tuple<tensor<4xf32, #relay.device<cuda:0>>>, tensor<2xi32, #relay.device<cuda:0>>> {
  %u = relay.device_copy %t : tuple<tuple<tensor<4xf32, #relay.device<cpu:0>>>, tensor<2xi32, #relay.device<cpu:0>>> to tuple<tuple<tensor<4xf32, #relay.device<cuda:0>>>, tensor<2xi32, #relay.device<cuda:0>>>
  func.return %u : tuple<tuple<tensor<4xf32, #relay.device<cuda:0>>>, tensor<2xi32, #relay.device<cuda:0>>>
}
