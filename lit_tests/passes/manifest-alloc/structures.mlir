// RUN: xrelay-opt --split-input-file -p manifest-alloc %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p manifest-alloc,manifest-alloc %s | filecheck %s

// B6: tuples need no let block; those in and out, nested or with constants, stay as they are.
//
// CHECK-LABEL: @tuples
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    %[[I:.*]] = relay.tuple_get_item %t[0]
// CHECK-NEXT:    %[[J:.*]] = relay.tuple %[[C]], %[[I]]
// CHECK-NEXT:    %[[R:.*]] = relay.tuple %[[J]], %t
// CHECK-NEXT:    func.return %[[R]]
func.func @tuples(%t: tuple<tensor<?xf32, #relay.device<cpu:0>>>) -> tuple<tuple<tensor<2xf32, #relay.device<cpu:0>>, tensor<?xf32, #relay.device<cpu:0>>>, tuple<tensor<?xf32, #relay.device<cpu:0>>>> {
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32> on #relay.device<cpu:0>
  %i = relay.tuple_get_item %t[0] : (tuple<tensor<?xf32, #relay.device<cpu:0>>>) -> tensor<?xf32, #relay.device<cpu:0>>
  %j = relay.tuple %c, %i : (tensor<2xf32, #relay.device<cpu:0>>, tensor<?xf32, #relay.device<cpu:0>>) -> tuple<tensor<2xf32, #relay.device<cpu:0>>, tensor<?xf32, #relay.device<cpu:0>>>
  %r = relay.tuple %j, %t : (tuple<tensor<2xf32, #relay.device<cpu:0>>, tensor<?xf32, #relay.device<cpu:0>>>, tuple<tensor<?xf32, #relay.device<cpu:0>>>) -> tuple<tuple<tensor<2xf32, #relay.device<cpu:0>>, tensor<?xf32, #relay.device<cpu:0>>>, tuple<tensor<?xf32, #relay.device<cpu:0>>>>
  func.return %r : tuple<tuple<tensor<2xf32, #relay.device<cpu:0>>, tensor<?xf32, #relay.device<cpu:0>>>, tuple<tensor<?xf32, #relay.device<cpu:0>>>>
}

// -----

// Calls of functions, recursive ones too, and of closures stay; what a closure computes is allocated
// in its body.
//
// CHECK-LABEL: @calls
// CHECK-NEXT:    %[[F:.*]] = relay.fn
// CHECK-NEXT:      memory.alloc_storage 16
// CHECK-NEXT:      memory.alloc_tensor
// CHECK-NEXT:      %[[Y:.*]] = vm.invoke_tvm_op @exp ins(%{{.*}})
// CHECK-NEXT:      relay.yield %[[Y]]
// CHECK:         %[[Z:.*]] = relay.call %[[F]](%x)
// CHECK-NEXT:    %[[R:.*]] = func.call @calls(%[[Z]])
// CHECK-NEXT:    func.return %[[R]]
func.func @calls(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %f = relay.fn (%a: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
    %y = relay.call_lowered @exp(%a) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %y : tensor<4xf32, #relay.device<cpu:0>>
  }
  %z = relay.call %f(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %r = func.call @calls(%z) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return %r : tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @exp(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// Arms of a match allocate for themselves; references and data hold tensors as they are.
//
// CHECK-LABEL: @match
// CHECK:         relay.match %l
// CHECK-NEXT:      case
// CHECK-NEXT:        memory.alloc_storage 16
// CHECK-NEXT:        memory.alloc_tensor
// CHECK-NEXT:        %[[Y:.*]] = vm.invoke_tvm_op @exp
// CHECK-NEXT:        %[[C:.*]] = relay.ref_create %[[Y]]
// CHECK-NEXT:        %[[R:.*]] = relay.ref_read %[[C]]
// CHECK-NEXT:        relay.yield %[[R]]
// CHECK:           case
// CHECK-NEXT:        relay.yield %x
relay.type_data @List<["A"]> [@Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]
func.func @match(%l: !relay.adt<@List, [tensor<4xf32>], #relay.device<cpu:0>>, %x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %r = relay.match %l : !relay.adt<@List, [tensor<4xf32>], #relay.device<cpu:0>> -> (tensor<4xf32, #relay.device<cpu:0>>) {
    case @List::@Cons(%a: tensor<4xf32, #relay.device<cpu:0>>, _) {
      %y = relay.call_lowered @exp(%a) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
      %c = relay.ref_create %y : (tensor<4xf32, #relay.device<cpu:0>>) -> !relay.ref<tensor<4xf32, #relay.device<cpu:0>>>
      %v = relay.ref_read %c : (!relay.ref<tensor<4xf32, #relay.device<cpu:0>>>) -> tensor<4xf32, #relay.device<cpu:0>>
      relay.yield %v : tensor<4xf32, #relay.device<cpu:0>>
    }
    case @List::@Nil() {
      relay.yield %x : tensor<4xf32, #relay.device<cpu:0>>
    }
  }
  func.return %r : tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @exp(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
