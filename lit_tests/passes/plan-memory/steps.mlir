// RUN: xrelay-opt --split-input-file -p plan-memory %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p plan-memory --print-ir-after-all -o %t.out %s 2>&1 | filecheck %s --check-prefix=STEPS
// RUN: xrelay-opt --split-input-file -p 'plan-memory{verify=false}' --print-ir-after-all -o %t.out %s 2>&1 | filecheck %s --check-prefix=UNVERIFIED

// Storages are packed and laid out, their bytes are killed, and the plan is verified.
//
// STEPS:           IR Dump After pack-storage
// STEPS:           memory.pack
// STEPS:           IR Dump After layout-slices
// STEPS-NOT:       memory.kill
// STEPS:           IR Dump After manifest-lifetimes
// STEPS:           memory.kill
// STEPS:           IR Dump After verify-memory-plan
// UNVERIFIED-NOT:  IR Dump After verify-memory-plan
//
// CHECK-LABEL: func.func @an_arena
// CHECK-NEXT:    %[[ARENA:.*]] = memory.alloc_storage 80 align 64
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[ARENA]][0]
// CHECK-NEXT:    %[[A:.*]] = vm.invoke_tvm_op @f ins(%x {{.*}} outs(%[[T]]
// CHECK-NEXT:    %[[U:.*]] = memory.alloc_tensor %[[ARENA]][64]
// CHECK-NEXT:    %[[B:.*]] = vm.invoke_tvm_op @f ins(%[[A]] {{.*}} outs(%[[U]]
// CHECK-NEXT:    memory.kill %[[A]]
// CHECK-NEXT:    %[[V:.*]] = memory.alloc_tensor %[[ARENA]][0]
// CHECK-NEXT:    %[[C:.*]] = vm.invoke_tvm_op @f ins(%[[B]] {{.*}} outs(%[[V]]
// CHECK-NEXT:    memory.kill %[[B]]
// CHECK-NEXT:    "test.op"(%[[C]])
// CHECK-NEXT:    memory.kill %[[C]]
func.func @an_arena(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @f ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %s2 = memory.alloc_storage 16 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
  %c = vm.invoke_tvm_op @f ins(%b : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%c) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.reverse %x {axis = 0} : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
