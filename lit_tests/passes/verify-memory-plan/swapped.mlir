// RUN: xrelay-opt -p manifest-lifetimes,verify-memory-plan %s | filecheck %s

// Four branches that swap two tensors, or not: their results share no bytes.
//
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16xf32>, %c0: tensor<i1>, %c1: tensor<i1>, %c2: tensor<i1>, %c3: tensor<i1>) -> tensor<16xf32> {
  %as = memory.alloc_storage 64 align 64 : !memory.storage
  %at = memory.alloc_tensor %as[0] : tensor<16xf32>
  %a0 = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%at : tensor<16xf32>) -> tensor<16xf32>
  %bs = memory.alloc_storage 64 align 64 : !memory.storage
  %bt = memory.alloc_tensor %bs[0] : tensor<16xf32>
  %b0 = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%bt : tensor<16xf32>) -> tensor<16xf32>
  %a1, %b1 = relay.if %c0 : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    relay.yield %a0, %b0 : tensor<16xf32>, tensor<16xf32>
  } else {
    relay.yield %b0, %a0 : tensor<16xf32>, tensor<16xf32>
  }
  %a2, %b2 = relay.if %c1 : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    relay.yield %a1, %b1 : tensor<16xf32>, tensor<16xf32>
  } else {
    relay.yield %b1, %a1 : tensor<16xf32>, tensor<16xf32>
  }
  %a3, %b3 = relay.if %c2 : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    relay.yield %a2, %b2 : tensor<16xf32>, tensor<16xf32>
  } else {
    relay.yield %b2, %a2 : tensor<16xf32>, tensor<16xf32>
  }
  %a4, %b4 = relay.if %c3 : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    relay.yield %a3, %b3 : tensor<16xf32>, tensor<16xf32>
  } else {
    relay.yield %b3, %a3 : tensor<16xf32>, tensor<16xf32>
  }
  %us = memory.alloc_storage 64 align 64 : !memory.storage
  %ut = memory.alloc_tensor %us[0] : tensor<16xf32>
  %u = vm.invoke_tvm_op @f ins(%a4 : tensor<16xf32>) outs(%ut : tensor<16xf32>) -> tensor<16xf32>
  memory.kill %a4 : tensor<16xf32>
  %vs = memory.alloc_storage 64 align 64 : !memory.storage
  %vt = memory.alloc_tensor %vs[0] : tensor<16xf32>
  %v = vm.invoke_tvm_op @g ins(%b4, %u : tensor<16xf32>, tensor<16xf32>) outs(%vt : tensor<16xf32>) -> tensor<16xf32>
  memory.kill %b4 : tensor<16xf32>
  memory.kill %u : tensor<16xf32>
  func.return %v : tensor<16xf32>
}
relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.add %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  relay.yield %z : tensor<16xf32>
}
