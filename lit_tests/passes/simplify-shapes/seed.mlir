// RUN: xrelay-opt --split-input-file -p create-shape-functions,manifest-alloc %s | filecheck %s --check-prefix=FORM
// RUN: xrelay-opt --split-input-file -p create-shape-functions,manifest-alloc,simplify-shapes,remove-dead-writes %s | filecheck %s

// A broadcast on another device than the host.

// FORM-LABEL:   func.func @broadcast(
// FORM-SAME:      %[[X:.*]]: tensor<?x2xf32, #cuda0>, %[[Y:.*]]: tensor<?x2xf32, #cuda0>) -> tensor<?x2xf32, #cuda0> {
// FORM-NEXT:      %[[IN_SHAPE:.*]] = vm.shape_of %[[X]] : (tensor<?x2xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// FORM-NEXT:      %[[IN_SHAPE_1:.*]] = vm.shape_of %[[Y]] : (tensor<?x2xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// FORM-NEXT:      %[[STORAGE_OUT_SHAPE:.*]] = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// FORM-NEXT:      %[[TENSOR_OUT_SHAPE:.*]] = memory.alloc_tensor %[[STORAGE_OUT_SHAPE]][0] : tensor<2xi64, #cpu0>
// FORM-NEXT:      %[[OUT_SHAPE:.*]] = vm.shape_func @shape_func_add ins(%[[IN_SHAPE]], %[[IN_SHAPE_1]] : tensor<2xi64, #cpu0>, tensor<2xi64, #cpu0>) outs(%[[TENSOR_OUT_SHAPE]] : tensor<2xi64, #cpu0>) {is_input = array<i64: 0, 0>} -> tensor<2xi64, #cpu0>
// FORM-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// FORM-NEXT:      %[[OUT_DIM0:.*]] = tensor.extract %[[OUT_SHAPE]][%[[I0]]] : tensor<2xi64, #cpu0>
// FORM-NEXT:      %[[C8:.*]] = arith.constant 8 : i64
// FORM-NEXT:      %[[BYTES:.*]] = arith.muli %[[OUT_DIM0]], %[[C8]] : i64
// FORM-NEXT:      %[[STORAGE:.*]] = memory.alloc_storage %[[BYTES]] align 64 : !memory.storage<#cuda0>
// FORM-NEXT:      %[[TENSOR:.*]] = memory.alloc_tensor %[[STORAGE]][0] shape %[[OUT_SHAPE]] : tensor<2xi64, #cpu0> -> tensor<?x2xf32, #cuda0>
// FORM-NEXT:      %[[R:.*]] = vm.invoke_tvm_op @fused_add ins(%[[X]], %[[Y]] : tensor<?x2xf32, #cuda0>, tensor<?x2xf32, #cuda0>) outs(%[[TENSOR]] : tensor<?x2xf32, #cuda0>) -> tensor<?x2xf32, #cuda0>
// FORM-NEXT:      func.return %[[R]] : tensor<?x2xf32, #cuda0>
// FORM-NEXT:    }
// CHECK-LABEL:   func.func @broadcast(
// CHECK-SAME:      %[[X:.*]]: tensor<?x2xf32, #cuda0>, %[[Y:.*]]: tensor<?x2xf32, #cuda0>) -> tensor<?x2xf32, #cuda0> {
// CHECK-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[X_SHAPE:.*]] = vm.shape_of %[[X]] : (tensor<?x2xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK-NEXT:      %[[X_DIM0:.*]] = tensor.extract %[[X_SHAPE]][%[[I0]]] : tensor<2xi64, #cpu0>
// CHECK-NEXT:      %[[Y_SHAPE:.*]] = vm.shape_of %[[Y]] : (tensor<?x2xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK-NEXT:      %[[Y_DIM0:.*]] = tensor.extract %[[Y_SHAPE]][%[[I0]]] : tensor<2xi64, #cpu0>
// CHECK-NEXT:      %[[C1:.*]] = arith.constant 1 : i64
// CHECK-NEXT:      %[[C2:.*]] = arith.constant 2 : i64
// CHECK-NEXT:      %[[C8:.*]] = arith.constant 8 : i64
// CHECK-NEXT:      relay.require broadcast %[[X_DIM0]], %[[Y_DIM0]], "relay.add of tensor<{0}x2xf32> and tensor<{1}x2xf32>: dims {0} and {1} at axis -2 do not broadcast together"
// CHECK-NEXT:      %[[OUT_SHAPE:.*]] = arith.cmpi eq, %[[X_DIM0]], %[[C1]] : i64
// CHECK-NEXT:      %[[OUT_SHAPE_1:.*]] = arith.select %[[OUT_SHAPE]], %[[Y_DIM0]], %[[X_DIM0]] : i64
// CHECK-NEXT:      %[[OUT_SHAPE_2:.*]] = tensor.from_elements %[[OUT_SHAPE_1]], %[[C2]] : tensor<2xi64, #cpu0>
// CHECK-NEXT:      %[[BYTES:.*]] = arith.muli %[[OUT_SHAPE_1]], %[[C8]] : i64
// CHECK-NEXT:      %[[STORAGE:.*]] = memory.alloc_storage %[[BYTES]] align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:      %[[TENSOR:.*]] = memory.alloc_tensor %[[STORAGE]][0] shape %[[OUT_SHAPE_2]] : tensor<2xi64, #cpu0> -> tensor<?x2xf32, #cuda0>
// CHECK-NEXT:      %[[R:.*]] = vm.invoke_tvm_op @fused_add ins(%[[X]], %[[Y]] : tensor<?x2xf32, #cuda0>, tensor<?x2xf32, #cuda0>) outs(%[[TENSOR]] : tensor<?x2xf32, #cuda0>) -> tensor<?x2xf32, #cuda0>
// CHECK-NEXT:      func.return %[[R]] : tensor<?x2xf32, #cuda0>
// CHECK-NEXT:    }
func.func @broadcast(%x: tensor<?x2xf32, #relay.device<cuda:0>>, %y: tensor<?x2xf32, #relay.device<cuda:0>>) -> tensor<?x2xf32, #relay.device<cuda:0>> {
  %r = relay.call_lowered @fused_add(%x, %y) : (tensor<?x2xf32, #relay.device<cuda:0>>, tensor<?x2xf32, #relay.device<cuda:0>>) -> tensor<?x2xf32, #relay.device<cuda:0>>
  func.return %r : tensor<?x2xf32, #relay.device<cuda:0>>
}
// FORM-LABEL:   relay.prim_func @fused_add(
// FORM-SAME:      %[[A:.*]]: tensor<?x2xf32>, %[[B:.*]]: tensor<?x2xf32>) -> tensor<?x2xf32> attributes {shape_func = @shape_func_add, shape_inputs = array<i64: 2, 2>} {
// FORM-NEXT:      %[[V0:.*]] = relay.add %[[A]], %[[B]] : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
// FORM-NEXT:      relay.yield %[[V0]] : tensor<?x2xf32>
// FORM-NEXT:    }
// FORM-LABEL:   relay.shape_func @shape_func_add(
// FORM-SAME:      %[[A_SHAPE:.*]]: tensor<2xi64>, %[[B_SHAPE:.*]]: tensor<2xi64>) -> tensor<2xi64> {
// FORM-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// FORM-NEXT:      %[[A_DIM0:.*]] = tensor.extract %[[A_SHAPE]][%[[I0]]] : tensor<2xi64>
// FORM-NEXT:      %[[B_DIM0:.*]] = tensor.extract %[[B_SHAPE]][%[[I0]]] : tensor<2xi64>
// FORM-NEXT:      relay.require broadcast %[[A_DIM0]], %[[B_DIM0]], "relay.add of tensor<{0}x2xf32> and tensor<{1}x2xf32>: dims {0} and {1} at axis -2 do not broadcast together"
// FORM-NEXT:      %[[C1:.*]] = arith.constant 1 : i64
// FORM-NEXT:      %[[V0:.*]] = arith.cmpi eq, %[[A_DIM0]], %[[C1]] : i64
// FORM-NEXT:      %[[V1:.*]] = arith.select %[[V0]], %[[B_DIM0]], %[[A_DIM0]] : i64
// FORM-NEXT:      %[[C2:.*]] = arith.constant 2 : i64
// FORM-NEXT:      %[[V2:.*]] = tensor.from_elements %[[V1]], %[[C2]] : tensor<2xi64>
// FORM-NEXT:      relay.yield %[[V2]] : tensor<2xi64>
// FORM-NEXT:    }
// CHECK-LABEL:   relay.prim_func @fused_add(
// CHECK-SAME:      %[[A:.*]]: tensor<?x2xf32>, %[[B:.*]]: tensor<?x2xf32>) -> tensor<?x2xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.add %[[A]], %[[B]] : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
// CHECK-NEXT:      relay.yield %[[V0]] : tensor<?x2xf32>
// CHECK-NEXT:    }
relay.prim_func @fused_add(%a: tensor<?x2xf32>, %b: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = relay.add %a, %b : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  relay.yield %0 : tensor<?x2xf32>
}

// -----

// A kernel whose shape depends on data that is on another device.

// FORM-LABEL:   func.func @data(
// FORM-SAME:      %[[N:.*]]: tensor<1xi64, #cuda0>) -> tensor<?xf32, #cuda0> {
// FORM-NEXT:      %[[STORAGE_IN:.*]] = memory.alloc_storage 8 align 64 : !memory.storage<#cpu0>
// FORM-NEXT:      %[[TENSOR_IN:.*]] = memory.alloc_tensor %[[STORAGE_IN]][0] : tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[IN:.*]] = memory.copy ins(%[[N]] : tensor<1xi64, #cuda0>) outs(%[[TENSOR_IN]] : tensor<1xi64, #cpu0>) -> tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[STORAGE_OUT_SHAPE:.*]] = memory.alloc_storage 8 align 64 : !memory.storage<#cpu0>
// FORM-NEXT:      %[[TENSOR_OUT_SHAPE:.*]] = memory.alloc_tensor %[[STORAGE_OUT_SHAPE]][0] : tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[OUT_SHAPE:.*]] = vm.shape_func @shape_func_dyn_zeros ins(%[[IN]] : tensor<1xi64, #cpu0>) outs(%[[TENSOR_OUT_SHAPE]] : tensor<1xi64, #cpu0>) {is_input = array<i64: 1>} -> tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// FORM-NEXT:      %[[OUT_DIM0:.*]] = tensor.extract %[[OUT_SHAPE]][%[[I0]]] : tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[C4:.*]] = arith.constant 4 : i64
// FORM-NEXT:      %[[BYTES:.*]] = arith.muli %[[OUT_DIM0]], %[[C4]] : i64
// FORM-NEXT:      %[[STORAGE:.*]] = memory.alloc_storage %[[BYTES]] align 64 : !memory.storage<#cuda0>
// FORM-NEXT:      %[[TENSOR:.*]] = memory.alloc_tensor %[[STORAGE]][0] shape %[[OUT_SHAPE]] : tensor<1xi64, #cpu0> -> tensor<?xf32, #cuda0>
// FORM-NEXT:      %[[R:.*]] = vm.invoke_tvm_op @fused_zeros ins(%[[N]] : tensor<1xi64, #cuda0>) outs(%[[TENSOR]] : tensor<?xf32, #cuda0>) -> tensor<?xf32, #cuda0>
// FORM-NEXT:      func.return %[[R]] : tensor<?xf32, #cuda0>
// FORM-NEXT:    }
// CHECK-LABEL:   func.func @data(
// CHECK-SAME:      %[[N:.*]]: tensor<1xi64, #cuda0>) -> tensor<?xf32, #cuda0> {
// CHECK-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[C0:.*]] = arith.constant 0 : i64
// CHECK-NEXT:      %[[C4:.*]] = arith.constant 4 : i64
// CHECK-NEXT:      %[[STORAGE_IN:.*]] = memory.alloc_storage 8 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:      %[[TENSOR_IN:.*]] = memory.alloc_tensor %[[STORAGE_IN]][0] : tensor<1xi64, #cpu0>
// CHECK-NEXT:      %[[IN:.*]] = memory.copy ins(%[[N]] : tensor<1xi64, #cuda0>) outs(%[[TENSOR_IN]] : tensor<1xi64, #cpu0>) -> tensor<1xi64, #cpu0>
// CHECK-NEXT:      %[[OUT_SHAPE:.*]] = tensor.extract %[[IN]][%[[I0]]] : tensor<1xi64, #cpu0>
// CHECK-NEXT:      relay.require at_least %[[OUT_SHAPE]], %[[C0]], "relay.dyn.zeros of tensor<1xi64>: an element of shape must be at least 0, but is {0}"
// CHECK-NEXT:      %[[OUT_SHAPE_1:.*]] = tensor.from_elements %[[OUT_SHAPE]] : tensor<1xi64, #cpu0>
// CHECK-NEXT:      %[[BYTES:.*]] = arith.muli %[[OUT_SHAPE]], %[[C4]] : i64
// CHECK-NEXT:      %[[STORAGE:.*]] = memory.alloc_storage %[[BYTES]] align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:      %[[TENSOR:.*]] = memory.alloc_tensor %[[STORAGE]][0] shape %[[OUT_SHAPE_1]] : tensor<1xi64, #cpu0> -> tensor<?xf32, #cuda0>
// CHECK-NEXT:      %[[R:.*]] = vm.invoke_tvm_op @fused_zeros ins(%[[N]] : tensor<1xi64, #cuda0>) outs(%[[TENSOR]] : tensor<?xf32, #cuda0>) -> tensor<?xf32, #cuda0>
// CHECK-NEXT:      func.return %[[R]] : tensor<?xf32, #cuda0>
// CHECK-NEXT:    }
func.func @data(%n: tensor<1xi64, #relay.device<cuda:0>>) -> tensor<?xf32, #relay.device<cuda:0>> {
  %r = relay.call_lowered @fused_zeros(%n) : (tensor<1xi64, #relay.device<cuda:0>>) -> tensor<?xf32, #relay.device<cuda:0>>
  func.return %r : tensor<?xf32, #relay.device<cuda:0>>
}
// FORM-LABEL:   relay.prim_func @fused_zeros(
// FORM-SAME:      %[[N:.*]]: tensor<1xi64>) -> tensor<?xf32> attributes {shape_func = @shape_func_dyn_zeros, shape_inputs = array<i64: 1>} {
// FORM-NEXT:      %[[V0:.*]] = relay.dyn.zeros %[[N]] {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
// FORM-NEXT:      relay.yield %[[V0]] : tensor<?xf32>
// FORM-NEXT:    }
// FORM-LABEL:   relay.shape_func @shape_func_dyn_zeros(
// FORM-SAME:      %[[N:.*]]: tensor<1xi64>) -> tensor<1xi64> {
// FORM-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// FORM-NEXT:      %[[V0:.*]] = tensor.extract %[[N]][%[[I0]]] : tensor<1xi64>
// FORM-NEXT:      %[[C0:.*]] = arith.constant 0 : i64
// FORM-NEXT:      relay.require at_least %[[V0]], %[[C0]], "relay.dyn.zeros of tensor<1xi64>: an element of shape must be at least 0, but is {0}"
// FORM-NEXT:      %[[V1:.*]] = tensor.from_elements %[[V0]] : tensor<1xi64>
// FORM-NEXT:      relay.yield %[[V1]] : tensor<1xi64>
// FORM-NEXT:    }
// CHECK-LABEL:   relay.prim_func @fused_zeros(
// CHECK-SAME:      %[[N:.*]]: tensor<1xi64>) -> tensor<?xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.dyn.zeros %[[N]] {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:      relay.yield %[[V0]] : tensor<?xf32>
// CHECK-NEXT:    }
relay.prim_func @fused_zeros(%n: tensor<1xi64>) -> tensor<?xf32> {
  %0 = relay.dyn.zeros %n {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// A scalar result and a view: a sum has a static shape, the flattened tensor the size of its data.

// FORM-LABEL:   func.func @scalar_and_view(
// FORM-SAME:      %[[X:.*]]: tensor<?x4xf32, #cpu0>) -> (tensor<f32, #cpu0>, tensor<?xf32, #cpu0>) {
// FORM-NEXT:      %[[IN_SHAPE:.*]] = vm.shape_of %[[X]] : (tensor<?x4xf32, #cpu0>) -> tensor<2xi64, #cpu0>
// FORM-NEXT:      %[[STORAGE_OUT_SHAPE:.*]] = memory.alloc_storage 8 align 64 : !memory.storage<#cpu0>
// FORM-NEXT:      %[[TENSOR_OUT_SHAPE:.*]] = memory.alloc_tensor %[[STORAGE_OUT_SHAPE]][0] : tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[OUT_SHAPE:.*]] = vm.shape_func @shape_func_reshape ins(%[[IN_SHAPE]] : tensor<2xi64, #cpu0>) outs(%[[TENSOR_OUT_SHAPE]] : tensor<1xi64, #cpu0>) {is_input = array<i64: 0>} -> tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[V:.*]] = vm.reshape_tensor %[[X]] shape %[[OUT_SHAPE]] : (tensor<?x4xf32, #cpu0>, tensor<1xi64, #cpu0>) -> tensor<?xf32, #cpu0>
// FORM-NEXT:      %[[STORAGE:.*]] = memory.alloc_storage 4 align 64 : !memory.storage<#cpu0>
// FORM-NEXT:      %[[TENSOR:.*]] = memory.alloc_tensor %[[STORAGE]][0] : tensor<f32, #cpu0>
// FORM-NEXT:      %[[S:.*]] = vm.invoke_tvm_op @fused_sum ins(%[[V]] : tensor<?xf32, #cpu0>) outs(%[[TENSOR]] : tensor<f32, #cpu0>) -> tensor<f32, #cpu0>
// FORM-NEXT:      %[[IN_SHAPE_1:.*]] = vm.shape_of %[[V]] : (tensor<?xf32, #cpu0>) -> tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[STORAGE_OUT_SHAPE_1:.*]] = memory.alloc_storage 8 align 64 : !memory.storage<#cpu0>
// FORM-NEXT:      %[[TENSOR_OUT_SHAPE_1:.*]] = memory.alloc_tensor %[[STORAGE_OUT_SHAPE_1]][0] : tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[OUT_SHAPE_1:.*]] = vm.shape_func @shape_func_exp ins(%[[IN_SHAPE_1]] : tensor<1xi64, #cpu0>) outs(%[[TENSOR_OUT_SHAPE_1]] : tensor<1xi64, #cpu0>) {is_input = array<i64: 0>} -> tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// FORM-NEXT:      %[[OUT_DIM0:.*]] = tensor.extract %[[OUT_SHAPE_1]][%[[I0]]] : tensor<1xi64, #cpu0>
// FORM-NEXT:      %[[C4:.*]] = arith.constant 4 : i64
// FORM-NEXT:      %[[BYTES:.*]] = arith.muli %[[OUT_DIM0]], %[[C4]] : i64
// FORM-NEXT:      %[[STORAGE_1:.*]] = memory.alloc_storage %[[BYTES]] align 64 : !memory.storage<#cpu0>
// FORM-NEXT:      %[[TENSOR_1:.*]] = memory.alloc_tensor %[[STORAGE_1]][0] shape %[[OUT_SHAPE_1]] : tensor<1xi64, #cpu0> -> tensor<?xf32, #cpu0>
// FORM-NEXT:      %[[E:.*]] = vm.invoke_tvm_op @fused_exp ins(%[[V]] : tensor<?xf32, #cpu0>) outs(%[[TENSOR_1]] : tensor<?xf32, #cpu0>) -> tensor<?xf32, #cpu0>
// FORM-NEXT:      func.return %[[S]], %[[E]] : tensor<f32, #cpu0>, tensor<?xf32, #cpu0>
// FORM-NEXT:    }
// CHECK-LABEL:   func.func @scalar_and_view(
// CHECK-SAME:      %[[X:.*]]: tensor<?x4xf32, #cpu0>) -> (tensor<f32, #cpu0>, tensor<?xf32, #cpu0>) {
// CHECK-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[X_SHAPE:.*]] = vm.shape_of %[[X]] : (tensor<?x4xf32, #cpu0>) -> tensor<2xi64, #cpu0>
// CHECK-NEXT:      %[[X_DIM0:.*]] = tensor.extract %[[X_SHAPE]][%[[I0]]] : tensor<2xi64, #cpu0>
// CHECK-NEXT:      %[[C4:.*]] = arith.constant 4 : i64
// CHECK-NEXT:      %[[C16:.*]] = arith.constant 16 : i64
// CHECK-NEXT:      %[[OUT_SHAPE:.*]] = arith.muli %[[X_DIM0]], %[[C4]] : i64
// CHECK-NEXT:      %[[OUT_SHAPE_1:.*]] = tensor.from_elements %[[OUT_SHAPE]] : tensor<1xi64, #cpu0>
// CHECK-NEXT:      %[[V:.*]] = vm.reshape_tensor %[[X]] shape %[[OUT_SHAPE_1]] : (tensor<?x4xf32, #cpu0>, tensor<1xi64, #cpu0>) -> tensor<?xf32, #cpu0>
// CHECK-NEXT:      %[[STORAGE:.*]] = memory.alloc_storage 4 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:      %[[TENSOR:.*]] = memory.alloc_tensor %[[STORAGE]][0] : tensor<f32, #cpu0>
// CHECK-NEXT:      %[[S:.*]] = vm.invoke_tvm_op @fused_sum ins(%[[V]] : tensor<?xf32, #cpu0>) outs(%[[TENSOR]] : tensor<f32, #cpu0>) -> tensor<f32, #cpu0>
// CHECK-NEXT:      %[[BYTES:.*]] = arith.muli %[[X_DIM0]], %[[C16]] : i64
// CHECK-NEXT:      %[[STORAGE_1:.*]] = memory.alloc_storage %[[BYTES]] align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:      %[[TENSOR_1:.*]] = memory.alloc_tensor %[[STORAGE_1]][0] shape %[[OUT_SHAPE_1]] : tensor<1xi64, #cpu0> -> tensor<?xf32, #cpu0>
// CHECK-NEXT:      %[[E:.*]] = vm.invoke_tvm_op @fused_exp ins(%[[V]] : tensor<?xf32, #cpu0>) outs(%[[TENSOR_1]] : tensor<?xf32, #cpu0>) -> tensor<?xf32, #cpu0>
// CHECK-NEXT:      func.return %[[S]], %[[E]] : tensor<f32, #cpu0>, tensor<?xf32, #cpu0>
// CHECK-NEXT:    }
func.func @scalar_and_view(%x: tensor<?x4xf32, #relay.device<cpu:0>>) -> (tensor<f32, #relay.device<cpu:0>>, tensor<?xf32, #relay.device<cpu:0>>) {
  %v = relay.call_lowered @fused_reshape(%x) {reshape_only} : (tensor<?x4xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  %s = relay.call_lowered @fused_sum(%v) : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
  %e = relay.call_lowered @fused_exp(%v) : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return %s, %e : tensor<f32, #relay.device<cpu:0>>, tensor<?xf32, #relay.device<cpu:0>>
}
// FORM-LABEL:   relay.prim_func @fused_reshape(
// FORM-SAME:      %[[A:.*]]: tensor<?x4xf32>) -> tensor<?xf32> attributes {shape_func = @shape_func_reshape, shape_inputs = array<i64: 2>} {
// FORM-NEXT:      %[[V0:.*]] = relay.reshape %[[A]] {newshape = array<i64: -1>} : (tensor<?x4xf32>) -> tensor<?xf32>
// FORM-NEXT:      relay.yield %[[V0]] : tensor<?xf32>
// FORM-NEXT:    }
// CHECK-LABEL:   relay.prim_func @fused_reshape(
// CHECK-SAME:      %[[A:.*]]: tensor<?x4xf32>) -> tensor<?xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.reshape %[[A]] {newshape = array<i64: -1>} : (tensor<?x4xf32>) -> tensor<?xf32>
// CHECK-NEXT:      relay.yield %[[V0]] : tensor<?xf32>
// CHECK-NEXT:    }
relay.prim_func @fused_reshape(%a: tensor<?x4xf32>) -> tensor<?xf32> {
  %0 = relay.reshape %a {newshape = array<i64: -1>} : (tensor<?x4xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
// FORM-LABEL:   relay.prim_func @fused_sum(
// FORM-SAME:      %[[A:.*]]: tensor<?xf32>) -> tensor<f32> {
// FORM-NEXT:      %[[V0:.*]] = relay.sum %[[A]] : (tensor<?xf32>) -> tensor<f32>
// FORM-NEXT:      relay.yield %[[V0]] : tensor<f32>
// FORM-NEXT:    }
// CHECK-LABEL:   relay.prim_func @fused_sum(
// CHECK-SAME:      %[[A:.*]]: tensor<?xf32>) -> tensor<f32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.sum %[[A]] : (tensor<?xf32>) -> tensor<f32>
// CHECK-NEXT:      relay.yield %[[V0]] : tensor<f32>
// CHECK-NEXT:    }
relay.prim_func @fused_sum(%a: tensor<?xf32>) -> tensor<f32> {
  %0 = relay.sum %a : (tensor<?xf32>) -> tensor<f32>
  relay.yield %0 : tensor<f32>
}
// FORM-LABEL:   relay.prim_func @fused_exp(
// FORM-SAME:      %[[A:.*]]: tensor<?xf32>) -> tensor<?xf32> attributes {shape_func = @shape_func_exp, shape_inputs = array<i64: 2>} {
// FORM-NEXT:      %[[V0:.*]] = relay.exp %[[A]] : (tensor<?xf32>) -> tensor<?xf32>
// FORM-NEXT:      relay.yield %[[V0]] : tensor<?xf32>
// FORM-NEXT:    }
// FORM-LABEL:   relay.shape_func @shape_func_reshape(
// FORM-SAME:      %[[A_SHAPE:.*]]: tensor<2xi64>) -> tensor<1xi64> {
// FORM-NEXT:      %[[I0:.*]] = arith.constant 0 : index
// FORM-NEXT:      %[[A_DIM0:.*]] = tensor.extract %[[A_SHAPE]][%[[I0]]] : tensor<2xi64>
// FORM-NEXT:      %[[C4:.*]] = arith.constant 4 : i64
// FORM-NEXT:      %[[V0:.*]] = arith.muli %[[A_DIM0]], %[[C4]] : i64
// FORM-NEXT:      %[[V1:.*]] = tensor.from_elements %[[V0]] : tensor<1xi64>
// FORM-NEXT:      relay.yield %[[V1]] : tensor<1xi64>
// FORM-NEXT:    }
// FORM-LABEL:   relay.shape_func @shape_func_exp(
// FORM-SAME:      %[[A_SHAPE:.*]]: tensor<1xi64>) -> tensor<1xi64> {
// FORM-NEXT:      relay.yield %[[A_SHAPE]] : tensor<1xi64>
// FORM-NEXT:    }
// CHECK-LABEL:   relay.prim_func @fused_exp(
// CHECK-SAME:      %[[A:.*]]: tensor<?xf32>) -> tensor<?xf32> {
// CHECK-NEXT:      %[[V0:.*]] = relay.exp %[[A]] : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:      relay.yield %[[V0]] : tensor<?xf32>
// CHECK-NEXT:    }
relay.prim_func @fused_exp(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
