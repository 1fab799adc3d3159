// RUN: xrelay-opt -p view-slices %s | filecheck %s

// Nothing but the call of a kernel that copies rows becomes a view.
//
// CHECK-LABEL: func.func @main
// CHECK:         vm.slice_tensor %x[2] : (tensor<8x4xf32, #cpu0>) -> tensor<3x4xf32, #cpu0>
// CHECK-NOT:     vm.invoke_tvm_op @fused_strided_slice
// CHECK:         vm.invoke_tvm_op @fused_nn_softmax
#cpu0 = #relay.device<cpu:0>
builtin.module {
  func.func @main(%x: tensor<8x4xf32, #cpu0>) -> tensor<3x4xf32, #cpu0> {
    %storage = memory.alloc_storage 48 align 64 : !memory.storage<#cpu0>
    %tensor = memory.alloc_tensor %storage[0] : tensor<3x4xf32, #cpu0>
    %a = vm.invoke_tvm_op @fused_strided_slice ins(%x : tensor<8x4xf32, #cpu0>) outs(%tensor : tensor<3x4xf32, #cpu0>) -> tensor<3x4xf32, #cpu0>
    %storage_1 = memory.alloc_storage 48 align 64 : !memory.storage<#cpu0>
    %tensor_1 = memory.alloc_tensor %storage_1[0] : tensor<3x4xf32, #cpu0>
    %b = vm.invoke_tvm_op @fused_nn_softmax ins(%a : tensor<3x4xf32, #cpu0>) outs(%tensor_1 : tensor<3x4xf32, #cpu0>) -> tensor<3x4xf32, #cpu0>
    func.return %b : tensor<3x4xf32, #cpu0>
  }
  relay.prim_func @fused_strided_slice(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
    %a = relay.strided_slice %x {begin = array<i64: 2>, end = array<i64: 5>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
    relay.yield %a : tensor<3x4xf32>
  }
  relay.prim_func @fused_nn_softmax(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %b = relay.nn.softmax %a : (tensor<3x4xf32>) -> tensor<3x4xf32>
    relay.yield %b : tensor<3x4xf32>
  }
}
