// A plan with a fault: @main allocates %b_there where it still needs %a.
#cpu0 = #relay.device<cpu:0>
builtin.module {
  func.func @main(%x: tensor<4x8xf32, #cpu0>) -> tensor<4x8xf32, #cpu0> {
    %arena = memory.alloc_storage 192 align 64 : !memory.storage<#cpu0>
    %a_there = memory.alloc_tensor %arena[0] : tensor<4x8xf32, #cpu0>
    %a = vm.invoke_tvm_op @exp ins(%x : tensor<4x8xf32, #cpu0>) outs(%a_there : tensor<4x8xf32, #cpu0>) -> tensor<4x8xf32, #cpu0>
    %b_there = memory.alloc_tensor %arena[64] : tensor<4x8xf32, #cpu0>
    %b = vm.invoke_tvm_op @softmax ins(%a : tensor<4x8xf32, #cpu0>) outs(%b_there : tensor<4x8xf32, #cpu0>) -> tensor<4x8xf32, #cpu0>
    %storage = memory.alloc_storage 128 align 64 : !memory.storage<#cpu0>
    %c_there = memory.alloc_tensor %storage[0] : tensor<4x8xf32, #cpu0>
    %c = vm.invoke_tvm_op @add ins(%a, %b : tensor<4x8xf32, #cpu0>, tensor<4x8xf32, #cpu0>) outs(%c_there : tensor<4x8xf32, #cpu0>) -> tensor<4x8xf32, #cpu0>
    func.return %c : tensor<4x8xf32, #cpu0>
  }
  relay.prim_func @exp(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %y = relay.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    relay.yield %y : tensor<4x8xf32>
  }
  relay.prim_func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %y = relay.nn.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    relay.yield %y : tensor<4x8xf32>
  }
  relay.prim_func @add(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %z = relay.add %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    relay.yield %z : tensor<4x8xf32>
  }
}
