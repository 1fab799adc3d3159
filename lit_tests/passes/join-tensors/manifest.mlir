// RUN: xrelay-opt -p join-tensors %s | filecheck %s

// From level `manifest` to the same.
//
// CHECK:      %joined = memory.alloc_storage 128 align 64
// CHECK-NEXT: memory.slice_storage %joined[0] size 64
// CHECK:      memory.slice_storage %joined[64] size 64
// CHECK:      vm.join_tensors %a, %b
#cpu0 = #relay.device<cpu:0>
builtin.module {
  func.func @main(%x: tensor<1x16xf32, #cpu0>) -> tensor<1x32xf32, #cpu0> {
    %storage = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
    %tensor = memory.alloc_tensor %storage[0] : tensor<1x16xf32, #cpu0>
    %a = vm.invoke_tvm_op @fused_nn_softmax ins(%x : tensor<1x16xf32, #cpu0>) outs(%tensor : tensor<1x16xf32, #cpu0>) -> tensor<1x16xf32, #cpu0>
    %storage_1 = memory.alloc_storage 64 align 64 : !memory.storage<#cpu0>
    %tensor_1 = memory.alloc_tensor %storage_1[0] : tensor<1x16xf32, #cpu0>
    %b = vm.invoke_tvm_op @fused_nn_softmax ins(%a : tensor<1x16xf32, #cpu0>) outs(%tensor_1 : tensor<1x16xf32, #cpu0>) -> tensor<1x16xf32, #cpu0>
    %storage_2 = memory.alloc_storage 128 align 64 : !memory.storage<#cpu0>
    %tensor_2 = memory.alloc_tensor %storage_2[0] : tensor<1x32xf32, #cpu0>
    %c = vm.invoke_tvm_op @fused_concatenate ins(%a, %b : tensor<1x16xf32, #cpu0>, tensor<1x16xf32, #cpu0>) outs(%tensor_2 : tensor<1x32xf32, #cpu0>) -> tensor<1x32xf32, #cpu0>
    func.return %c : tensor<1x32xf32, #cpu0>
  }
  relay.prim_func @fused_nn_softmax(%x: tensor<1x16xf32>) -> tensor<1x16xf32> {
    %a = relay.nn.softmax %x : (tensor<1x16xf32>) -> tensor<1x16xf32>
    relay.yield %a : tensor<1x16xf32>
  }
  relay.prim_func @fused_concatenate(%a: tensor<1x16xf32>, %b: tensor<1x16xf32>) -> tensor<1x32xf32> {
    %c = relay.concatenate %a, %b {axis = 1 : i64} : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x32xf32>
    relay.yield %c : tensor<1x32xf32>
  }
}
