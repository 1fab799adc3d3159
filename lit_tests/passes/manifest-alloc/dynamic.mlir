// RUN: xrelay-opt --split-input-file -p create-shape-functions,manifest-alloc %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p create-shape-functions,manifest-alloc,manifest-alloc %s | filecheck %s

// A view of dynamic shape has the shape that its shape function returns; nothing is allocated for it.
//
// CHECK-LABEL: @view
// CHECK:         %[[S:.*]] = vm.shape_func @shape_func_reshape ins(
// CHECK-NEXT:    %[[V:.*]] = vm.reshape_tensor %x shape %[[S]] : (tensor<?x2xf32, #cpu0>, tensor<1xi64, #cpu0>) -> tensor<?xf32, #cpu0>
// CHECK-NEXT:    func.return %[[V]]
func.func @view(%x: tensor<?x2xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>> {
  %y = relay.call_lowered @reshape(%x) {reshape_only} : (tensor<?x2xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return %y : tensor<?xf32, #relay.device<cpu:0>>
}
relay.prim_func @reshape(%a: tensor<?x2xf32>) -> tensor<?xf32> {
  %0 = relay.reshape %a {newshape = array<i64: -1>} : (tensor<?x2xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// B7: a view may have more than two arguments; the shape function reads the others.
//
// CHECK-LABEL: @view_of_three
// CHECK:         %[[X:.*]] = vm.shape_of %x
// CHECK:         %[[S:.*]] = vm.shape_func @shape_func_dyn_reshape_dyn_reshape ins(%[[X]], %s, %t : {{.*}}) {{.*}} {is_input = array<i64: 0, 1, 1>}
// CHECK-NEXT:    vm.reshape_tensor %x shape %[[S]]
func.func @view_of_three(%x: tensor<?xf32, #relay.device<cpu:0>>, %s: tensor<2xi64, #relay.device<cpu:0>>, %t: tensor<3xi64, #relay.device<cpu:0>>) -> tensor<?x?x?xf32, #relay.device<cpu:0>> {
  %y = relay.call_lowered @reshape(%x, %s, %t) {reshape_only} : (tensor<?xf32, #relay.device<cpu:0>>, tensor<2xi64, #relay.device<cpu:0>>, tensor<3xi64, #relay.device<cpu:0>>) -> tensor<?x?x?xf32, #relay.device<cpu:0>>
  func.return %y : tensor<?x?x?xf32, #relay.device<cpu:0>>
}
relay.prim_func @reshape(%x: tensor<?xf32>, %s: tensor<2xi64>, %t: tensor<3xi64>) -> tensor<?x?x?xf32> {
  %0 = relay.dyn.reshape %x, %s {allowzero = false} : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.reshape %0, %t {allowzero = false} : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  relay.yield %1 : tensor<?x?x?xf32>
}

// -----

// A copy between devices has the shape of its source.
//
// CHECK-LABEL: @copy
// CHECK-NEXT:    %[[SHAPE:.*]] = vm.shape_of %x : (tensor<?x?xf16, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK:         %[[M:.*]] = tensor.extract %[[SHAPE]][%i1]
// CHECK:         %[[N:.*]] = tensor.extract %[[SHAPE]][%i0]
// CHECK:         %[[COLUMN:.*]] = arith.muli %[[N]], %c2
// CHECK:         %[[BYTES:.*]] = arith.muli %[[M]], %[[COLUMN]]
// CHECK:         %[[S:.*]] = memory.alloc_storage %[[BYTES]] align 64 : !memory.storage<#cpu0>
// CHECK:         %[[T:.*]] = memory.alloc_tensor %[[S]][0] shape %[[SHAPE]]
// CHECK:         memory.copy ins(%x : {{.*}}) outs(%[[T]] :
func.func @copy(%x: tensor<?x?xf16, #relay.device<cuda:0>>) -> tensor<?x?xf16, #relay.device<cpu:0>> {
  %y = relay.device_copy %x : tensor<?x?xf16, #relay.device<cuda:0>> to tensor<?x?xf16, #relay.device<cpu:0>>
  func.return %y : tensor<?x?xf16, #relay.device<cpu:0>>
}

// -----

// A copy of a nested tuple copies its tensors, of whatever shapes.
//
// CHECK-LABEL: @tuple_copy
// CHECK-NEXT:    %[[I:.*]] = relay.tuple_get_item %t[0]
// CHECK-NEXT:    %[[A:.*]] = relay.tuple_get_item %[[I]][0]
// CHECK:         %[[SHAPE:.*]] = vm.shape_of %[[A]]
// CHECK:         memory.copy ins(%[[A]] :
// CHECK:         %[[B:.*]] = relay.tuple_get_item %t[1]
// CHECK-NEXT:    memory.alloc_storage 8 align 64
// CHECK:         memory.copy ins(%[[B]] :
func.func @tuple_copy(%t: tuple<tuple<tensor<?xf32, #relay.device<cuda:0>>>, tensor<2xi32, #relay.device<cuda:0>>>) -> tuple<tuple<tensor<?xf32, #relay.device<cpu:0>>>, tensor<2xi32, #relay.device<cpu:0>>> {
  %u = relay.device_copy %t : tuple<tuple<tensor<?xf32, #relay.device<cuda:0>>>, tensor<2xi32, #relay.device<cuda:0>>> to tuple<tuple<tensor<?xf32, #relay.device<cpu:0>>>, tensor<2xi32, #relay.device<cpu:0>>>
  func.return %u : tuple<tuple<tensor<?xf32, #relay.device<cpu:0>>>, tensor<2xi32, #relay.device<cpu:0>>>
}

// -----

// B5: a shape function may need an argument's data and shape, or neither; data of dynamic shape that
// is elsewhere is copied to the host, its shape taken once.
//
// CHECK-LABEL: @states
// CHECK-NEXT:    %[[SHAPE:.*]] = vm.shape_of %p : (tensor<?x2xi64, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK:         %[[T:.*]] = memory.alloc_tensor %{{.*}}[0] shape %[[SHAPE]]
// CHECK-NEXT:    %[[DATA:.*]] = memory.copy ins(%p : {{.*}}) outs(%[[T]] :
// CHECK-NOT:     vm.shape_of
// CHECK:         vm.shape_func @shape_func_dyn_nn_pad ins(%[[DATA]], %[[SHAPE]] : tensor<?x2xi64, #cpu0>, tensor<2xi64, #cpu0>) {{.*}} {is_input = array<i64: 1, 0>}
func.func @states(%p: tensor<?x2xi64, #relay.device<cuda:0>>, %v: tensor<i64, #relay.device<cuda:0>>) -> tensor<?x?xi64, #relay.device<cuda:0>> {
  %y = relay.call_lowered @pad(%p, %v) : (tensor<?x2xi64, #relay.device<cuda:0>>, tensor<i64, #relay.device<cuda:0>>) -> tensor<?x?xi64, #relay.device<cuda:0>>
  func.return %y : tensor<?x?xi64, #relay.device<cuda:0>>
}
relay.prim_func @pad(%p: tensor<?x2xi64>, %v: tensor<i64>) -> tensor<?x?xi64> {
  %0 = relay.dyn.nn.pad %p, %p, %v {pad_mode = "constant"} : (tensor<?x2xi64>, tensor<?x2xi64>, tensor<i64>) -> tensor<?x?xi64>
  relay.yield %0 : tensor<?x?xi64>
}

// -----

// A dim of 0 makes the storage empty, whatever the others are.
//
// CHECK-LABEL: @empty
// CHECK:         %[[SHAPE:.*]] = vm.shape_func
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 0 align 64
// CHECK-NEXT:    memory.alloc_tensor %[[S]][0] shape %[[SHAPE]]
func.func @empty(%x: tensor<?x0xf32, #relay.device<cpu:0>>) -> tensor<?x0xf32, #relay.device<cpu:0>> {
  %y = relay.call_lowered @exp(%x) : (tensor<?x0xf32, #relay.device<cpu:0>>) -> tensor<?x0xf32, #relay.device<cpu:0>>
  func.return %y : tensor<?x0xf32, #relay.device<cpu:0>>
}
relay.prim_func @exp(%x: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %0 = relay.exp %x : (tensor<?x0xf32>) -> tensor<?x0xf32>
  relay.yield %0 : tensor<?x0xf32>
}
