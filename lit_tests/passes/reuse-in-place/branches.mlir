// RUN: xrelay-opt --split-input-file -p reuse-in-place %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p reuse-in-place,verify-memory-plan %s

// Each arm may overwrite what neither the other one nor the code after it uses then.
//
// CHECK-LABEL: @in_arms
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         relay.if
// CHECK-NEXT:      %{{.*}} = memory.alloc_tensor %[[S]][0]
// CHECK:         } else {
// CHECK-NEXT:      %{{.*}} = memory.alloc_tensor %[[S]][0]
func.func @in_arms(%x: tensor<4xf32>, %c: tensor<i1>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  relay.if %c : tensor<i1> {
    %s1 = memory.alloc_storage 16 align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
    %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
    "test.op"(%b) : (tensor<4xf32>) -> ()
    relay.yield
  } else {
    %s2 = memory.alloc_storage 16 align 64 : !memory.storage
    %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
    %d = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
    "test.op"(%d) : (tensor<4xf32>) -> ()
    relay.yield
  }
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// What is used after the branch is not overwritten in it.
//
// CHECK-LABEL: @used_after
// CHECK:         memory.alloc_storage
// CHECK:         relay.if
// CHECK-NEXT:      memory.alloc_storage
func.func @used_after(%x: tensor<4xf32>, %c: tensor<i1>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  relay.if %c : tensor<i1> {
    %s1 = memory.alloc_storage 16 align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
    %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
    "test.op"(%b) : (tensor<4xf32>) -> ()
    relay.yield
  } else {
    relay.yield
  }
  "test.op"(%a) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A result that outlives its arm does not take over a storage from outside, which would then be
// alive in the other arm too.
//
// CHECK-LABEL: @yielded
// CHECK:         memory.alloc_storage
// CHECK:         relay.if
// CHECK-NEXT:      memory.alloc_storage
func.func @yielded(%x: tensor<4xf32>, %c: tensor<i1>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s1 = memory.alloc_storage 16 align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
    %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  "test.op"(%r) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// If the other arm yields the operand itself, its storage is alive there anyway.
//
// CHECK-LABEL: @or_yielded
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         relay.if
// CHECK-NEXT:      %{{.*}} = memory.alloc_tensor %[[S]][0]
func.func @or_yielded(%x: tensor<4xf32>, %c: tensor<i1>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s1 = memory.alloc_storage 16 align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
    %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  } else {
    relay.yield %a : tensor<4xf32>
  }
  "test.op"(%r) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A result of a branch is in one storage or another: it is not overwritten.
//
// CHECK-LABEL: @result_of_a_branch
// CHECK:         relay.if
// CHECK:         }
// CHECK-NEXT:    %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0]
func.func @result_of_a_branch(%x: tensor<4xf32>, %c: tensor<i1>) {
  %a = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s3 = memory.alloc_storage 16 align 64 : !memory.storage
    %t3 = memory.alloc_tensor %s3[0] : tensor<4xf32>
    %p = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t3 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %p : tensor<4xf32>
  } else {
    %s4 = memory.alloc_storage 16 align 64 : !memory.storage
    %t4 = memory.alloc_tensor %s4[0] : tensor<4xf32>
    %q = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t4 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %q : tensor<4xf32>
  }
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
