// RUN: xrelay-opt -p manifest-alloc,lower-to-bytecode %s | filecheck %s

// E9: the static call E1 becomes two allocations and a call of the packed kernel.
//
// CHECK-LABEL: bytecode.func @main
// CHECK-NEXT:    bytecode.alloc_storage r2, 140 align 64 on #cpu0
// CHECK-NEXT:    bytecode.alloc_tensor r3, r2[0] : tensor<5x7xf32>
// CHECK-NEXT:    bytecode.invoke_packed @add(r0, r1) -> (r3)
// CHECK-NEXT:    bytecode.ret r3
func.func @main(%a: tensor<5x7xf32, #relay.device<cpu:0>>, %b: tensor<5x7xf32, #relay.device<cpu:0>>) -> tensor<5x7xf32, #relay.device<cpu:0>> {
  %y = relay.call_lowered @add(%a, %b) : (tensor<5x7xf32, #relay.device<cpu:0>>, tensor<5x7xf32, #relay.device<cpu:0>>) -> tensor<5x7xf32, #relay.device<cpu:0>>
  func.return %y : tensor<5x7xf32, #relay.device<cpu:0>>
}
relay.prim_func @add(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.yield %0 : tensor<5x7xf32>
}
