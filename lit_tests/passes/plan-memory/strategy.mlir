// RUN: xrelay-opt -p 'plan-memory{strategy=coalesce}' %s | filecheck %s

// The strategy is that of the layout.
//
// CHECK-LABEL: func.func @concatenated
// CHECK-NEXT:    %[[ARENA:.*]] = memory.alloc_storage 192 align 64
// CHECK:         memory.alloc_tensor %[[ARENA]][0]
// CHECK:         memory.alloc_tensor %[[ARENA]][64]
// CHECK:         memory.alloc_tensor %[[ARENA]][128]
func.func @concatenated(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @f ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %s2 = memory.alloc_storage 64 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
  %c = vm.invoke_tvm_op @f ins(%b : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.reverse %x {axis = 0} : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
