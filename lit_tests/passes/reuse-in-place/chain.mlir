// RUN: xrelay-opt --split-input-file -p reuse-in-place %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p reuse-in-place,verify-memory-plan %s

// The results of a chain of kernels are all written to the bytes of its first.
//
// CHECK-LABEL: @chain
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0]
// CHECK:         %[[T1:[a-z0-9]+]] = memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:    %{{.*}} = vm.invoke_tvm_op @exp ins(%{{.*}}) outs(%[[T1]] 
// CHECK:         memory.alloc_tensor %[[S]][0]
// CHECK-NOT:     memory.alloc_storage
func.func @chain(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %s2 = memory.alloc_storage 16 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
  %c = vm.invoke_tvm_op @exp ins(%b : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%c) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// An operand that is used again is not overwritten.
//
// CHECK-LABEL: @fan_out
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @fan_out(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  "test.op"(%a) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// The last of several uses may overwrite it.
//
// CHECK-LABEL: @last_use
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         memory.alloc_storage
// CHECK:         %[[T:[a-z0-9]+]] = memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:    %c = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%[[T]] 
func.func @last_use(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %s2 = memory.alloc_storage 16 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
  %c = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  "test.op"(%c) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// An operand that is broadcast is not overwritten.
//
// CHECK-LABEL: @broadcast
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @broadcast(%x: tensor<4xf32>, %y: tensor<4x1xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4x4xf32>
  %b = vm.invoke_tvm_op @add ins(%y, %a : tensor<4x1xf32>, tensor<4xf32>) outs(%t1 : tensor<4x4xf32>) -> tensor<4x4xf32>
  "test.op"(%b) : (tensor<4x4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @add(%a: tensor<4x1xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  %y = relay.add %a, %b : (tensor<4x1xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  relay.yield %y : tensor<4x4xf32>
}

// -----

// A vector along an axis is not overwritten, even if it has as many elements as the data.
//
// CHECK-LABEL: @vector
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @vector(%y: tensor<1x4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @squeeze ins(%y : tensor<1x4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<1x4xf32>
  %b = vm.invoke_tvm_op @bias ins(%y, %a : tensor<1x4xf32>, tensor<4xf32>) outs(%t1 : tensor<1x4xf32>) -> tensor<1x4xf32>
  "test.op"(%b) : (tensor<1x4xf32>) -> ()
  func.return
}
relay.prim_func @squeeze(%a: tensor<1x4xf32>) -> tensor<4xf32> {
  %y = relay.squeeze %a {axis = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @bias(%a: tensor<1x4xf32>, %b: tensor<4xf32>) -> tensor<1x4xf32> {
  %y = relay.nn.bias_add %a, %b : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  relay.yield %y : tensor<1x4xf32>
}
