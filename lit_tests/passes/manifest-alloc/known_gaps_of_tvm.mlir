// RUN: xrelay-opt --split-input-file -p create-shape-functions,manifest-alloc %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p create-shape-functions,manifest-alloc,manifest-alloc %s | filecheck %s

// Several results without elements have a storage each.
//
// CHECK-LABEL: @several_empty
// CHECK:         %[[SHAPES:.*]], %[[SHAPES_1:.*]] = vm.shape_func @shape_func_split
// CHECK:         %[[S0:.*]] = memory.alloc_storage 0 align 64
// CHECK-NEXT:    %[[S1:.*]] = memory.alloc_storage 0 align 64
// CHECK-NEXT:    %[[T0:.*]] = memory.alloc_tensor %[[S0]][0] shape %[[SHAPES]] :
// CHECK-NEXT:    %[[T1:.*]] = memory.alloc_tensor %[[S1]][0] shape %[[SHAPES_1]] :
// CHECK-NEXT:    vm.invoke_tvm_op @split ins(%x : {{.*}}) outs(%[[T0]], %[[T1]] :
func.func @several_empty(%x: tensor<?x0xf32, #relay.device<cpu:0>>) -> (tensor<?x0xf32, #relay.device<cpu:0>>, tensor<?x0xf32, #relay.device<cpu:0>>) {
  %a, %b = relay.call_lowered @split(%x) : (tensor<?x0xf32, #relay.device<cpu:0>>) -> (tensor<?x0xf32, #relay.device<cpu:0>>, tensor<?x0xf32, #relay.device<cpu:0>>)
  func.return %a, %b : tensor<?x0xf32, #relay.device<cpu:0>>, tensor<?x0xf32, #relay.device<cpu:0>>
}
relay.prim_func @split(%x: tensor<?x0xf32>) -> (tensor<?x0xf32>, tensor<?x0xf32>) {
  %a, %b = relay.split %x {indices_or_sections = 2 : i64} : (tensor<?x0xf32>) -> (tensor<?x0xf32>, tensor<?x0xf32>)
  relay.yield %a, %b : tensor<?x0xf32>, tensor<?x0xf32>
}

// -----

// Sizes that are i32 in the program are i64 for the allocation.
//
// CHECK-LABEL: @narrow_sizes
// CHECK:         %[[SHAPE:.*]] = vm.shape_func @shape_func_dyn_zeros ins(%s : tensor<2xi32, #cpu0>) {{.*}} -> tensor<2xi64, #cpu0>
// CHECK:         tensor.extract %[[SHAPE]][%{{.*}}] : tensor<2xi64, #cpu0>
// CHECK:         %[[ROW:.*]] = arith.muli %{{.*}}, %c4 : i64
// CHECK-NEXT:    %[[BYTES:.*]] = arith.muli %{{.*}}, %[[ROW]] : i64
// CHECK-NEXT:    memory.alloc_storage %[[BYTES]] align 64
func.func @narrow_sizes(%s: tensor<2xi32, #relay.device<cpu:0>>) -> tensor<?x?xf32, #relay.device<cpu:0>> {
  %y = relay.call_lowered @zeros(%s) : (tensor<2xi32, #relay.device<cpu:0>>) -> tensor<?x?xf32, #relay.device<cpu:0>>
  func.return %y : tensor<?x?xf32, #relay.device<cpu:0>>
}
relay.prim_func @zeros(%s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = relay.dyn.zeros %s {dtype = f32} : (tensor<2xi32>) -> tensor<?x?xf32>
  relay.yield %0 : tensor<?x?xf32>
}

// -----

// An operator may have many operands whose elements are sizes: each is read for itself.
//
// CHECK-LABEL: @several_read
// CHECK:         vm.shape_func @shape_func_dyn_strided_slice ins(%[[X:.*]], %b, %e, %s : {{.*}} {is_input = array<i64: 0, 1, 1, 1>}
func.func @several_read(%x: tensor<?xf32, #relay.device<cpu:0>>, %b: tensor<1xi64, #relay.device<cpu:0>>, %e: tensor<1xi64, #relay.device<cpu:0>>, %s: tensor<1xi64, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>> {
  %y = relay.call_lowered @slice(%x, %b, %e, %s) : (tensor<?xf32, #relay.device<cpu:0>>, tensor<1xi64, #relay.device<cpu:0>>, tensor<1xi64, #relay.device<cpu:0>>, tensor<1xi64, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return %y : tensor<?xf32, #relay.device<cpu:0>>
}
relay.prim_func @slice(%x: tensor<?xf32>, %b: tensor<1xi64>, %e: tensor<1xi64>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %0 = relay.dyn.strided_slice %x, %b, %e, %s : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
