// RUN: xrelay-opt --split-input-file -p lower-to-bytecode %s | filecheck %s

// No kill in a storage of several tensors frees anything but the last one, which clears all.
//
// CHECK-LABEL: bytecode.func @freed
// CHECK:         bytecode.alloc_storage [[S:r.*]], 128
// CHECK-NOT:     kill
// CHECK:         bytecode.invoke_packed @exp([[X:r.*]]) -> ([[Y:r.*]])
// CHECK-NOT:     kill
// CHECK:         bytecode.invoke_packed @exp([[Y]]) -> ([[Z:r.*]])
// CHECK:         bytecode.invoke_packed @exp([[Z]])
// CHECK-NEXT:    bytecode.kill_storage [[S]]
// CHECK-NEXT:    bytecode.alloc_storage
// CHECK-NOT:     kill
// CHECK:         bytecode.ret
func.func @freed(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %r = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %s = memory.alloc_storage 128 align 64 : !memory.storage<#relay.device<cpu:0>>
  %a = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cpu:0>>
  %0 = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%a : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %b = memory.alloc_tensor %s[64] : tensor<4xf32, #relay.device<cpu:0>>
  %1 = vm.invoke_tvm_op @exp ins(%0 : tensor<4xf32, #relay.device<cpu:0>>) outs(%b : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %0 : tensor<4xf32, #relay.device<cpu:0>>
  %c = memory.alloc_tensor %r[0] : tensor<4xf32, #relay.device<cpu:0>>
  %2 = vm.invoke_tvm_op @exp ins(%1 : tensor<4xf32, #relay.device<cpu:0>>) outs(%c : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %1 : tensor<4xf32, #relay.device<cpu:0>>
  %t = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %d = memory.alloc_tensor %t[0] : tensor<4xf32, #relay.device<cpu:0>>
  %3 = vm.invoke_tvm_op @exp ins(%2 : tensor<4xf32, #relay.device<cpu:0>>) outs(%d : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %2 : tensor<4xf32, #relay.device<cpu:0>>
  func.return %3 : tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// What is needed up to the last call is freed by the end of the function.
//
// CHECK-LABEL: bytecode.func @freed_at_the_end
// CHECK-NOT:     kill
// CHECK:         bytecode.ret
func.func @freed_at_the_end(%x: tensor<4xf32, #relay.device<cpu:0>>, %out: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %s = memory.alloc_storage 128 align 64 : !memory.storage<#relay.device<cpu:0>>
  %a = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cpu:0>>
  %0 = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%a : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %b = memory.alloc_tensor %s[64] : tensor<4xf32, #relay.device<cpu:0>>
  %1 = vm.invoke_tvm_op @exp ins(%0 : tensor<4xf32, #relay.device<cpu:0>>) outs(%b : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %0 : tensor<4xf32, #relay.device<cpu:0>>
  %2 = vm.invoke_tvm_op @exp ins(%1 : tensor<4xf32, #relay.device<cpu:0>>) outs(%out : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %1 : tensor<4xf32, #relay.device<cpu:0>>
  func.return %2 : tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// The register of a storage with one tensor is cleared once that is allocated, and the tensor's at
// its kill.
//
// CHECK-LABEL: bytecode.func @of_one_tensor
// CHECK:         bytecode.alloc_tensor [[A:r.*]], [[S:r.*]][0]
// CHECK-NEXT:    bytecode.kill_register [[S]]
// CHECK:         bytecode.invoke_packed @exp([[A]])
// CHECK-NEXT:    bytecode.kill_register [[A]]
// CHECK-NEXT:    bytecode.invoke_packed @exp
// CHECK-NEXT:    bytecode.ret
func.func @of_one_tensor(%x: tensor<4xf32, #relay.device<cpu:0>>, %t: tensor<4xf32, #relay.device<cpu:0>>, %u: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %a = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cpu:0>>
  %0 = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%a : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %1 = vm.invoke_tvm_op @exp ins(%0 : tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %0 : tensor<4xf32, #relay.device<cpu:0>>
  %2 = vm.invoke_tvm_op @exp ins(%1 : tensor<4xf32, #relay.device<cpu:0>>) outs(%u : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return %2 : tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
