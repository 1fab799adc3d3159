// RUN: xrelay-opt --split-input-file -p create-shape-functions,manifest-alloc %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p create-shape-functions,manifest-alloc,manifest-alloc %s | filecheck %s

// E1: a static call allocates its result; the value of the call is the tensor written.
//
// CHECK-LABEL: @e1_static
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 140 align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[S]][0] : tensor<5x7xf32, #cuda0>
// CHECK-NEXT:    %[[Y:.*]] = vm.invoke_tvm_op @add ins(%a, %b : {{.*}}) outs(%[[T]] : {{.*}}) -> tensor<5x7xf32, #cuda0>
// CHECK-NEXT:    func.return %[[Y]]
func.func @e1_static(%a: tensor<5x7xf32, #relay.device<cuda:0>>, %b: tensor<5x7xf32, #relay.device<cuda:0>>) -> tensor<5x7xf32, #relay.device<cuda:0>> {
  %y = relay.call_lowered @add(%a, %b) : (tensor<5x7xf32, #relay.device<cuda:0>>, tensor<5x7xf32, #relay.device<cuda:0>>) -> tensor<5x7xf32, #relay.device<cuda:0>>
  func.return %y : tensor<5x7xf32, #relay.device<cuda:0>>
}
relay.prim_func @add(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.yield %0 : tensor<5x7xf32>
}

// -----

// E2: two results have two storages and two tensors; a tuple of them is made, a projection stays.
//
// CHECK-LABEL: @e2_two_outputs
// CHECK-NEXT:    %[[S0:.*]] = memory.alloc_storage 8
// CHECK-NEXT:    %[[S1:.*]] = memory.alloc_storage 8
// CHECK-NEXT:    %[[T0:.*]] = memory.alloc_tensor %[[S0]][0]
// CHECK-NEXT:    %[[T1:.*]] = memory.alloc_tensor %[[S1]][0]
// CHECK-NEXT:    %[[Y0:.*]], %[[Y1:.*]] = vm.invoke_tvm_op @split2 ins(%x : {{.*}}) outs(%[[T0]], %[[T1]] :
// CHECK-NEXT:    %[[T:.*]] = relay.tuple %[[Y0]], %[[Y1]] :
// CHECK-NEXT:    %[[R:.*]] = relay.tuple_get_item %[[T]][0]
// CHECK-NEXT:    func.return %[[R]]
func.func @e2_two_outputs(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<2xf32, #relay.device<cpu:0>> {
  %a, %b = relay.call_lowered @split2(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> (tensor<2xf32, #relay.device<cpu:0>>, tensor<2xf32, #relay.device<cpu:0>>)
  %t = relay.tuple %a, %b : (tensor<2xf32, #relay.device<cpu:0>>, tensor<2xf32, #relay.device<cpu:0>>) -> tuple<tensor<2xf32, #relay.device<cpu:0>>, tensor<2xf32, #relay.device<cpu:0>>>
  %r = relay.tuple_get_item %t[0] : (tuple<tensor<2xf32, #relay.device<cpu:0>>, tensor<2xf32, #relay.device<cpu:0>>>) -> tensor<2xf32, #relay.device<cpu:0>>
  func.return %r : tensor<2xf32, #relay.device<cpu:0>>
}
relay.prim_func @split2(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a, %b = relay.split %x {indices_or_sections = array<i64: 2>} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  relay.yield %a, %b : tensor<2xf32>, tensor<2xf32>
}

// -----

// E3: a static reshape is a view.
//
// CHECK-LABEL: @e3_reshape_only
// CHECK-NEXT:    %[[V:.*]] = vm.reshape_tensor %x : (tensor<4x4xf32, #cpu0>) -> tensor<2x4x2xf32, #cpu0>
// CHECK-NEXT:    func.return %[[V]]
func.func @e3_reshape_only(%x: tensor<4x4xf32, #relay.device<cpu:0>>) -> tensor<2x4x2xf32, #relay.device<cpu:0>> {
  %y = relay.call_lowered @reshape(%x) {reshape_only} : (tensor<4x4xf32, #relay.device<cpu:0>>) -> tensor<2x4x2xf32, #relay.device<cpu:0>>
  func.return %y : tensor<2x4x2xf32, #relay.device<cpu:0>>
}
relay.prim_func @reshape(%x: tensor<4x4xf32>) -> tensor<2x4x2xf32> {
  %0 = relay.reshape %x {newshape = array<i64: 2, 4, 2>} : (tensor<4x4xf32>) -> tensor<2x4x2xf32>
  relay.yield %0 : tensor<2x4x2xf32>
}

// -----

// E4: a dynamic call runs its shape function on the shapes that it needs; the storage has the size
// that it returns.
//
// CHECK-LABEL: @e4_dynamic_broadcast
// CHECK-NEXT:    %[[X:.*]] = vm.shape_of %x : (tensor<?x2xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK-NEXT:    %[[Y:.*]] = vm.shape_of %y : (tensor<?x2xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK-NEXT:    %[[OS:.*]] = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %[[OT:.*]] = memory.alloc_tensor %[[OS]][0] : tensor<2xi64, #cpu0>
// CHECK-NEXT:    %[[SHAPE:.*]] = vm.shape_func @shape_func_add ins(%[[X]], %[[Y]] : {{.*}}) outs(%[[OT]] : {{.*}}) {is_input = array<i64: 0, 0>} -> tensor<2xi64, #cpu0>
// CHECK-NEXT:    %[[I:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[SHAPE]][%[[I]]]
// CHECK-NEXT:    %[[ROW:.*]] = arith.constant 8 : i64
// CHECK-NEXT:    %[[BYTES:.*]] = arith.muli %[[N]], %[[ROW]] : i64
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage %[[BYTES]] align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[S]][0] shape %[[SHAPE]] : tensor<2xi64, #cpu0> -> tensor<?x2xf32, #cuda0>
// CHECK-NEXT:    %[[R:.*]] = vm.invoke_tvm_op @add ins(%x, %y : {{.*}}) outs(%[[T]] :
// CHECK-NEXT:    func.return %[[R]]
func.func @e4_dynamic_broadcast(%x: tensor<?x2xf32, #relay.device<cuda:0>>, %y: tensor<?x2xf32, #relay.device<cuda:0>>) -> tensor<?x2xf32, #relay.device<cuda:0>> {
  %r = relay.call_lowered @add(%x, %y) : (tensor<?x2xf32, #relay.device<cuda:0>>, tensor<?x2xf32, #relay.device<cuda:0>>) -> tensor<?x2xf32, #relay.device<cuda:0>>
  func.return %r : tensor<?x2xf32, #relay.device<cuda:0>>
}
relay.prim_func @add(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = relay.add %x, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  relay.yield %0 : tensor<?x2xf32>
}

// -----

// E5: data that the shape function reads is copied to the host first.
//
// CHECK-LABEL: @e5_data_dependent
// CHECK-NEXT:    %[[IS:.*]] = memory.alloc_storage 4 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %[[IT:.*]] = memory.alloc_tensor %[[IS]][0] : tensor<i32, #cpu0>
// CHECK-NEXT:    %[[IN:.*]] = memory.copy ins(%stop : tensor<i32, #cuda0>) outs(%[[IT]] : tensor<i32, #cpu0>) -> tensor<i32, #cpu0>
// CHECK-NEXT:    %[[OS:.*]] = memory.alloc_storage 8 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %[[OT:.*]] = memory.alloc_tensor %[[OS]][0] : tensor<1xi64, #cpu0>
// CHECK-NEXT:    %[[SHAPE:.*]] = vm.shape_func @shape_func_arange ins(%[[IN]] : tensor<i32, #cpu0>) outs(%[[OT]] : tensor<1xi64, #cpu0>) {is_input = array<i64: 1>} -> tensor<1xi64, #cpu0>
// CHECK:         memory.alloc_tensor %{{.*}}[0] shape %[[SHAPE]]
// CHECK:         vm.invoke_tvm_op @arange ins(%stop : tensor<i32, #cuda0>)
func.func @e5_data_dependent(%stop: tensor<i32, #relay.device<cuda:0>>) -> tensor<?xi32, #relay.device<cuda:0>> {
  %r = relay.call_lowered @arange(%stop) : (tensor<i32, #relay.device<cuda:0>>) -> tensor<?xi32, #relay.device<cuda:0>>
  func.return %r : tensor<?xi32, #relay.device<cuda:0>>
}
relay.prim_func @arange(%stop: tensor<i32>) -> tensor<?xi32> {
  %a = relay.constant dense<0> : tensor<i32>
  %b = relay.constant dense<1> : tensor<i32>
  %0 = relay.arange %a, %stop, %b {dtype = i32} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
  relay.yield %0 : tensor<?xi32>
}

// -----

// E6: each result is on the device of its value; shapes are on the host, and copies stay copies.
//
// CHECK-LABEL: @e6_heterogeneous
// CHECK:         %[[S0:.*]] = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK:         %[[Y:.*]] = vm.invoke_tvm_op @exp
// CHECK:         %[[S1:.*]] = memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK:         %[[T1:.*]] = memory.alloc_tensor %[[S1]][0]
// CHECK:         %[[Z:.*]] = memory.copy ins(%[[Y]] : tensor<4xf32, #cpu0>) outs(%[[T1]] : tensor<4xf32, #cuda0>)
// CHECK:         memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK:         vm.invoke_tvm_op @exp ins(%[[Z]] :
func.func @e6_heterogeneous(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %y = relay.call_lowered @exp(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %z = relay.device_copy %y : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  %r = relay.call_lowered @exp(%z) : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return %r : tensor<4xf32, #relay.device<cuda:0>>
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// E7: a scalar result of a dynamic call has an empty shape and the size of an element.
//
// CHECK-LABEL: @e7_scalar
// CHECK:         %[[OS0:.*]] = memory.alloc_storage 8 align 64
// CHECK-NEXT:    %[[OS1:.*]] = memory.alloc_storage 0 align 64
// CHECK-NEXT:    %[[OT0:.*]] = memory.alloc_tensor %[[OS0]][0] : tensor<1xi64, #cpu0>
// CHECK-NEXT:    %[[OT1:.*]] = memory.alloc_tensor %[[OS1]][0] : tensor<0xi64, #cpu0>
// CHECK-NEXT:    %[[O0:.*]], %{{.*}} = vm.shape_func @shape_func_exp_sum {{.*}} outs(%[[OT0]], %[[OT1]] :
// CHECK:         %[[S0:.*]] = memory.alloc_storage %{{.*}} align 64
// CHECK-NEXT:    %[[S1:.*]] = memory.alloc_storage 4 align 64
// CHECK-NEXT:    %[[T0:.*]] = memory.alloc_tensor %[[S0]][0] shape %[[O0]]
// CHECK-NEXT:    %[[T1:.*]] = memory.alloc_tensor %[[S1]][0] : tensor<f32, #cpu0>
// CHECK-NEXT:    vm.invoke_tvm_op @exp_sum ins(%x : {{.*}}) outs(%[[T0]], %[[T1]] :
func.func @e7_scalar(%x: tensor<?xf32, #relay.device<cpu:0>>) -> (tensor<?xf32, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>) {
  %a, %b = relay.call_lowered @exp_sum(%x) : (tensor<?xf32, #relay.device<cpu:0>>) -> (tensor<?xf32, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>)
  func.return %a, %b : tensor<?xf32, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>
}
relay.prim_func @exp_sum(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = relay.sum %0 : (tensor<?xf32>) -> tensor<f32>
  relay.yield %0, %1 : tensor<?xf32>, tensor<f32>
}

// -----

// E8: a call in a branch computes its shape, and allocates, in the branch.
//
// CHECK-LABEL: @e8_branch
// CHECK-NEXT:    %[[R:.*]] = relay.if %c
// CHECK-NEXT:      vm.shape_of %x
// CHECK:           vm.shape_func
// CHECK:           memory.alloc_storage %
// CHECK:           %[[Y:.*]] = vm.invoke_tvm_op @exp
// CHECK-NEXT:      relay.yield %[[Y]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[R]]
func.func @e8_branch(%c: tensor<i1, #relay.device<cpu:0>>, %x: tensor<?xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>> {
  %r = relay.if %c : tensor<i1, #relay.device<cpu:0>> -> (tensor<?xf32, #relay.device<cpu:0>>) {
    %y = relay.call_lowered @exp(%x) : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
    relay.yield %y : tensor<?xf32, #relay.device<cpu:0>>
  } else {
    relay.yield %x : tensor<?xf32, #relay.device<cpu:0>>
  }
  func.return %r : tensor<?xf32, #relay.device<cpu:0>>
}
relay.prim_func @exp(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
