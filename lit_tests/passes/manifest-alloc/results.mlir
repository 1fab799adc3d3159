// RUN: xrelay-opt --split-input-file -p manifest-alloc %s | filecheck %s

// A result is written into a tensor at the start of a storage of its size.
//
// CHECK-LABEL: @add
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 140 align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[S]][0] : tensor<5x7xf32, #cuda0>
// CHECK-NEXT:    %[[Y:.*]] = vm.invoke_tvm_op @fused_add ins(%a, %b : {{.*}}) outs(%[[T]] : tensor<5x7xf32, #cuda0>) -> tensor<5x7xf32, #cuda0>
// CHECK-NEXT:    func.return %[[Y]]
func.func @add(%a: tensor<5x7xf32, #relay.device<cuda:0>>, %b: tensor<5x7xf32, #relay.device<cuda:0>>) -> tensor<5x7xf32, #relay.device<cuda:0>> {
  %y = relay.call_lowered @fused_add(%a, %b) : (tensor<5x7xf32, #relay.device<cuda:0>>, tensor<5x7xf32, #relay.device<cuda:0>>) -> tensor<5x7xf32, #relay.device<cuda:0>>
  func.return %y : tensor<5x7xf32, #relay.device<cuda:0>>
}
relay.prim_func @fused_add(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.yield %0 : tensor<5x7xf32>
}

// -----

// The storages of several results come first, then the tensors.
//
// CHECK-LABEL: @two_outputs
// CHECK-NEXT:    %[[S0:.*]] = memory.alloc_storage 8 align 64
// CHECK-NEXT:    %[[S1:.*]] = memory.alloc_storage 16 align 64
// CHECK-NEXT:    %[[T0:.*]] = memory.alloc_tensor %[[S0]][0] : tensor<2xf32,
// CHECK-NEXT:    %[[T1:.*]] = memory.alloc_tensor %[[S1]][0] : tensor<4xf32,
// CHECK-NEXT:    %[[Y0:.*]], %[[Y1:.*]] = vm.invoke_tvm_op @fused_split ins(%x : {{.*}}) outs(%[[T0]], %[[T1]] :
// CHECK-NEXT:    func.return %[[Y0]], %[[Y1]]
func.func @two_outputs(%x: tensor<6xf32, #relay.device<cpu:0>>) -> (tensor<2xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>) {
  %a, %b = relay.call_lowered @fused_split(%x) : (tensor<6xf32, #relay.device<cpu:0>>) -> (tensor<2xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>)
  func.return %a, %b : tensor<2xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @fused_split(%x: tensor<6xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %a, %b = relay.split %x {indices_or_sections = array<i64: 2>} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  relay.yield %a, %b : tensor<2xf32>, tensor<4xf32>
}

// -----

// A call of a kernel that only reshapes becomes a view.
//
// CHECK-LABEL: @view
// CHECK-NEXT:    %[[V:.*]] = vm.reshape_tensor %x : (tensor<4x4xf32, #cpu0>) -> tensor<2x4x2xf32, #cpu0>
// CHECK-NEXT:    func.return %[[V]]
func.func @view(%x: tensor<4x4xf32, #relay.device<cpu:0>>) -> tensor<2x4x2xf32, #relay.device<cpu:0>> {
  %y = relay.call_lowered @fused_reshape(%x) {reshape_only} : (tensor<4x4xf32, #relay.device<cpu:0>>) -> tensor<2x4x2xf32, #relay.device<cpu:0>>
  func.return %y : tensor<2x4x2xf32, #relay.device<cpu:0>>
}
relay.prim_func @fused_reshape(%x: tensor<4x4xf32>) -> tensor<2x4x2xf32> {
  %0 = relay.reshape %x {newshape = array<i64: 2, 4, 2>} : (tensor<4x4xf32>) -> tensor<2x4x2xf32>
  relay.yield %0 : tensor<2x4x2xf32>
}

// -----

// Results in a branch are allocated in the branch.
//
// CHECK-LABEL: @in_a_branch
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      memory.alloc_storage 16
// CHECK-NEXT:      memory.alloc_tensor
// CHECK-NEXT:      %[[Y:.*]] = vm.invoke_tvm_op
// CHECK-NEXT:      relay.yield %[[Y]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @in_a_branch(%c: tensor<i1, #relay.device<cpu:0>>, %x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %r = relay.if %c : tensor<i1, #relay.device<cpu:0>> -> (tensor<4xf32, #relay.device<cpu:0>>) {
    %y = relay.call_lowered @fused_exp(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %y : tensor<4xf32, #relay.device<cpu:0>>
  } else {
    relay.yield %x : tensor<4xf32, #relay.device<cpu:0>>
  }
  func.return %r : tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @fused_exp(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// Explicit memory stays as it is.
//
// CHECK-LABEL: @again
// CHECK-NEXT:    memory.alloc_storage 16
// CHECK-NEXT:    memory.alloc_tensor
// CHECK-NEXT:    vm.invoke_tvm_op
// CHECK-NEXT:    func.return
func.func @again(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cpu:0>>
  %y = vm.invoke_tvm_op @fused_exp ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return %y : tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @fused_exp(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
