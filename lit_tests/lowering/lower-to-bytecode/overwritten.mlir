// RUN: xrelay-opt -p lower-to-bytecode %s | filecheck %s

relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// A name that one arm ends by writing over its bytes ends in the other arms, too, and once.
//
// CHECK-LABEL: bytecode.func @ends_in_all_arms
// CHECK:         bytecode.invoke_packed @exp(r1) -> ([[X:r.*]])
// CHECK-NEXT:    bytecode.if r0
// CHECK-NEXT:    bytecode.alloc_tensor [[T:r.*]], r2[0]
// CHECK-NEXT:    bytecode.invoke_packed @exp([[X]]) -> ([[T]])
// CHECK-NEXT:    bytecode.kill_register [[X]]
// CHECK-NEXT:    bytecode.move [[R:r.*]], [[T]]
// CHECK:         bytecode.goto
// CHECK-NEXT:    bytecode.alloc_tensor [[U:r.*]], r2[64]
// CHECK-NEXT:    bytecode.invoke_packed @exp(r1) -> ([[U]])
// CHECK-NEXT:    bytecode.move [[R]], [[U]]
// CHECK-NEXT:    bytecode.kill_register [[X]]
// CHECK-NOT:     kill_register [[X]]
// CHECK:         bytecode.ret
func.func @ends_in_all_arms(%c: tensor<i1, #relay.device<cpu:0>>, %x: tensor<4xf32, #relay.device<cpu:0>>, %w: !memory.storage<#relay.device<cpu:0>>) {
  %t = memory.alloc_tensor %w[0] : tensor<4xf32, #relay.device<cpu:0>>
  %0 = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %1 = relay.if %c : tensor<i1, #relay.device<cpu:0>> -> (tensor<4xf32, #relay.device<cpu:0>>) {
    %u = memory.alloc_tensor %w[0] : tensor<4xf32, #relay.device<cpu:0>>
    %2 = vm.invoke_tvm_op @exp ins(%0 : tensor<4xf32, #relay.device<cpu:0>>) outs(%u : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %2 : tensor<4xf32, #relay.device<cpu:0>>
  } else {
    %v = memory.alloc_tensor %w[64] : tensor<4xf32, #relay.device<cpu:0>>
    %3 = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%v : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %3 : tensor<4xf32, #relay.device<cpu:0>>
  }
  memory.kill %1 : tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// A result is written over two tensors without elements, which end after it: each register is
// cleared once.
//
// CHECK-LABEL: @cleared_once
// CHECK:         bytecode.invoke_packed @join(r{{[0-9]+}}, r{{[0-9]+}})
// CHECK-NEXT:    bytecode.kill_register r[[A:[0-9]+]]
// CHECK-NEXT:    bytecode.kill_register r[[B:[0-9]+]]
// CHECK-NOT:     bytecode.kill_register r[[B]]
// CHECK:         bytecode.ret
func.func @cleared_once(%p: tensor<i1, #relay.device<cpu:0>>) -> tensor<0xf32, #relay.device<cpu:0>> {
  relay.if %p : tensor<i1, #relay.device<cpu:0>> -> () {
    relay.yield
  } else {
    relay.yield
  }
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %a = memory.alloc_tensor %s[0] : tensor<0xf32, #relay.device<cpu:0>>
  %x = vm.invoke_tvm_op @none outs(%a : tensor<0xf32, #relay.device<cpu:0>>) -> tensor<0xf32, #relay.device<cpu:0>>
  %b = memory.alloc_tensor %s[0] : tensor<0xf32, #relay.device<cpu:0>>
  %y = vm.invoke_tvm_op @none outs(%b : tensor<0xf32, #relay.device<cpu:0>>) -> tensor<0xf32, #relay.device<cpu:0>>
  %c = memory.alloc_tensor %s[0] : tensor<0xf32, #relay.device<cpu:0>>
  %z = vm.invoke_tvm_op @join ins(%x, %y : tensor<0xf32, #relay.device<cpu:0>>, tensor<0xf32, #relay.device<cpu:0>>) outs(%c : tensor<0xf32, #relay.device<cpu:0>>) -> tensor<0xf32, #relay.device<cpu:0>>
  memory.kill %x : tensor<0xf32, #relay.device<cpu:0>>
  memory.kill %y : tensor<0xf32, #relay.device<cpu:0>>
  func.return %z : tensor<0xf32, #relay.device<cpu:0>>
}
relay.prim_func @none() -> tensor<0xf32> {
  %0 = relay.constant dense<[]> : tensor<0xf32>
  relay.yield %0 : tensor<0xf32>
}
relay.prim_func @join(%a: tensor<0xf32>, %b: tensor<0xf32>) -> tensor<0xf32> {
  %0 = relay.constant dense<[]> : tensor<0xf32>
  relay.yield %0 : tensor<0xf32>
}
