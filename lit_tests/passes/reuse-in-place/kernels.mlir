// RUN: xrelay-opt --split-input-file -p reuse-in-place %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p reuse-in-place,verify-memory-plan %s

// An element type of another size takes other bytes.
//
// CHECK-LABEL: @other_size
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @other_size(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 8 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf16>
  %b = vm.invoke_tvm_op @cast ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf16>) -> tensor<4xf16>
  "test.op"(%b) : (tensor<4xf16>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @cast(%x: tensor<4xf32>) -> tensor<4xf16> {
  %y = relay.cast %x {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>
  relay.yield %y : tensor<4xf16>
}

// -----

// Another element type of the same size takes the same bytes.
//
// CHECK-LABEL: @same_size
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         memory.alloc_tensor %[[S]][0] : tensor<4xf32>
// CHECK:         memory.alloc_tensor %[[S]][0] : tensor<4xi32>
func.func @same_size(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xi32>
  %b = vm.invoke_tvm_op @cast ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xi32>) -> tensor<4xi32>
  "test.op"(%b) : (tensor<4xi32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @cast(%x: tensor<4xf32>) -> tensor<4xi32> {
  %y = relay.cast %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  relay.yield %y : tensor<4xi32>
}

// -----

// Every op of a fused kernel must be elementwise: the product may be in the memory of the result
// before the residual is read.
//
// CHECK-LABEL: @residual
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @residual(%x: tensor<4xf32>, %y: tensor<1x4xf32>, %w: tensor<4x4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<1x4xf32>
  %a = vm.invoke_tvm_op @exp ins(%y : tensor<1x4xf32>) outs(%t0 : tensor<1x4xf32>) -> tensor<1x4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<1x4xf32>
  %b = vm.invoke_tvm_op @dense_add ins(%y, %w, %a : tensor<1x4xf32>, tensor<4x4xf32>, tensor<1x4xf32>) outs(%t1 : tensor<1x4xf32>) -> tensor<1x4xf32>
  "test.op"(%b) : (tensor<1x4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %y = relay.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  relay.yield %y : tensor<1x4xf32>
}
relay.prim_func @dense_add(%x: tensor<1x4xf32>, %w: tensor<4x4xf32>, %r: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %d = relay.nn.dense %x, %w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %y = relay.add %d, %r : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  relay.yield %y : tensor<1x4xf32>
}

// -----

// A chain of elementwise ops, here with a vector that is broadcast, is one loop.
//
// CHECK-LABEL: @fused
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         memory.alloc_tensor %[[S]][0]
// CHECK:         memory.alloc_tensor %[[S]][0]
func.func @fused(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @swish ins(%v, %a : tensor<1xf32>, tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @swish(%v: tensor<1xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %z = relay.multiply %x, %v : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %s = relay.sigmoid %z : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.multiply %s, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// Of two results, one may not overwrite what the other is computed from.
//
// CHECK-LABEL: @two_results
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @two_results(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %s2 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
  %b, %d = vm.invoke_tvm_op @both ins(%a : tensor<4xf32>) outs(%t1, %t2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  "test.op"(%b, %d) : (tensor<4xf32>, tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @both(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// Each result may overwrite an operand of its own.
//
// CHECK-LABEL: @swapped
// CHECK:         %[[A:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         %[[B:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         %{{.*}} = vm.invoke_tvm_op @exp
// CHECK-NEXT:    %[[T1:[a-z0-9]+]] = memory.alloc_tensor %[[B]][0]
// CHECK-NEXT:    %[[T2:[a-z0-9]+]] = memory.alloc_tensor %[[A]][0]
// CHECK-NEXT:    %{{.*}} = vm.invoke_tvm_op @each ins(%{{.*}}) outs(%[[T1]], %[[T2]]
func.func @swapped(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s3 = memory.alloc_storage 16 align 64 : !memory.storage
  %t3 = memory.alloc_tensor %s3[0] : tensor<4xf32>
  %e = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t3 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %s2 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
  %b, %d = vm.invoke_tvm_op @each ins(%a, %e : tensor<4xf32>, tensor<4xf32>) outs(%t1, %t2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  "test.op"(%b, %d) : (tensor<4xf32>, tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @each(%x: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = relay.exp %v : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// Softmax reads a row before it writes it.
//
// CHECK-LABEL: @softmax
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         memory.alloc_tensor %[[S]][0]
// CHECK:         memory.alloc_tensor %[[S]][0]
func.func @softmax(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @f ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.nn.softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A loop may reshape, and use what is computed apart from other operands, if it is smaller.
//
// CHECK-LABEL: @reshapes
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK:         memory.alloc_tensor %[[S]][0] : tensor<2x8xf32>
// CHECK:         memory.alloc_tensor %[[S]][0] : tensor<2x2x4xf32>
func.func @reshapes(%x: tensor<2x8xf32>, %m: tensor<2x1x1xf32>) {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<2x8xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<2x8xf32>) outs(%t0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<2x2x4xf32>
  %b = vm.invoke_tvm_op @g ins(%a, %m : tensor<2x8xf32>, tensor<2x1x1xf32>) outs(%t1 : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  "test.op"(%b) : (tensor<2x2x4xf32>) -> ()
  func.return
}
relay.prim_func @f(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %y = relay.exp %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  relay.yield %y : tensor<2x8xf32>
}
relay.prim_func @g(%x: tensor<2x8xf32>, %m: tensor<2x1x1xf32>) -> tensor<2x2x4xf32> {
  %v = relay.reshape %x {newshape = array<i64: 2, 2, 4>} : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
  %r = relay.sqrt %m : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %y = relay.divide %v, %r : (tensor<2x2x4xf32>, tensor<2x1x1xf32>) -> tensor<2x2x4xf32>
  relay.yield %y : tensor<2x2x4xf32>
}

// -----

// What is computed apart from the operand itself needs it before the loop.
//
// CHECK-LABEL: @maximum
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @maximum(%x: tensor<2x8xf32>) {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<2x8xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<2x8xf32>) outs(%t0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<2x8xf32>
  %b = vm.invoke_tvm_op @g ins(%a : tensor<2x8xf32>) outs(%t1 : tensor<2x8xf32>) -> tensor<2x8xf32>
  "test.op"(%b) : (tensor<2x8xf32>) -> ()
  func.return
}
relay.prim_func @f(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %y = relay.exp %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  relay.yield %y : tensor<2x8xf32>
}
relay.prim_func @g(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %m = relay.max %x {axis = array<i64: 1>, keepdims = true} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %y = relay.subtract %x, %m : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  relay.yield %y : tensor<2x8xf32>
}
