// RUN: xrelay-opt -p 'infer-types,plan-devices{default=cuda:0}' %s \
// RUN:   | filecheck %s --check-prefix PLANNED
// RUN: xrelay-opt %s \
// RUN:   -p 'infer-types,plan-devices,fuse-ops{level=0},outline-primitives,manifest-alloc' \
// RUN:   | filecheck %s --check-prefix MANIFEST
// RUN: xrelay-opt -p vm %s | filecheck %s --check-prefix BYTECODE

// Types and devices are inferred.
//
// PLANNED-LABEL: @main
// PLANNED:         demo.as_rows %{{.*}} -> tensor<6x4xf32, #cuda0>
// PLANNED-NEXT:    demo.scaled_tanh %{{.*}} -> tensor<6x4xf32, #cuda0>

// Only the result that is not a view is written into a storage.
//
// MANIFEST-LABEL: @main
// MANIFEST:         %[[ROWS:.*]] = vm.reshape_tensor
// MANIFEST-NEXT:    memory.alloc_storage 96
// MANIFEST-NEXT:    %[[T:.*]] = memory.alloc_tensor
// MANIFEST-NEXT:    vm.invoke_tvm_op @fused_scaled_tanh ins(%[[ROWS]] : {{.*}}) outs(%[[T]] :

// Both operators are steps of one kernel.
//
// BYTECODE-LABEL: bytecode.kernel
// BYTECODE:         bytecode.step "demo.as_rows" [0] -> [1] : (tensor<6x4xf32>)
// BYTECODE-NEXT:    bytecode.step "demo.scaled_tanh" [1] -> [2] : {{.*}}scale = 5.0
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %rows = demo.as_rows %x : (tensor<2x3x4xf32>) -> !relay.incomplete
  %t = demo.scaled_tanh %rows {scale = 0.5} : (!relay.incomplete) -> tensor<6x4xf32>
  func.return %t : tensor<6x4xf32>
}
