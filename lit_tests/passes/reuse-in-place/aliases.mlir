// RUN: xrelay-opt --split-input-file -p reuse-in-place %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p reuse-in-place,verify-memory-plan %s

// An operand of which a view is used again is not overwritten.
//
// CHECK-LABEL: @view_alive
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @view_alive(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %v = vm.reshape_tensor %a : (tensor<4xf32>) -> tensor<2x2xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  "test.op"(%v) : (tensor<2x2xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A view is overwritten like the tensor that it views.
//
// CHECK-LABEL: @view
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK-NOT:     memory.alloc_storage
func.func @view(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %v = vm.reshape_tensor %a : (tensor<4xf32>) -> tensor<2x2xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<2x2xf32>
  %b = vm.invoke_tvm_op @exp2 ins(%v : tensor<2x2xf32>) outs(%t1 : tensor<2x2xf32>) -> tensor<2x2xf32>
  "test.op"(%b) : (tensor<2x2xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @exp2(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = relay.exp %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  relay.yield %y : tensor<2x2xf32>
}

// -----

// A tensor that is passed twice is overwritten if both are read elementwise.
//
// CHECK-LABEL: @twice
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK-NOT:     memory.alloc_storage
func.func @twice(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @add ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A tensor that is also passed as a view of another shape is not overwritten.
//
// CHECK-LABEL: @other_view
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @other_view(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %v = vm.reshape_tensor %a : (tensor<4xf32>) -> tensor<4x1xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @f ins(%a, %v : tensor<4xf32>, tensor<4x1xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @f(%a: tensor<4xf32>, %b: tensor<4x1xf32>) -> tensor<4xf32> {
  %s = relay.sum %b {axis = array<i64: 0>} : (tensor<4x1xf32>) -> tensor<1xf32>
  %y = relay.add %a, %s : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A parameter belongs to the caller.
//
// CHECK-LABEL: @parameter
// CHECK:         memory.alloc_storage
// CHECK:         vm.invoke_tvm_op @exp ins(%x 
func.func @parameter(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%a) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// An operand that the function returns is not overwritten.
//
// CHECK-LABEL: @returned
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @returned(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return %a : tensor<4xf32>
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A result that the function returns takes over the storage of its operand.
//
// CHECK-LABEL: @result
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK-NOT:     memory.alloc_storage
func.func @result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// An operand in a storage with another tensor is not overwritten.
//
// CHECK-LABEL: @shared
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @shared(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 128 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %other = memory.alloc_tensor %s0[64] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
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

// -----

// Bytes that a kill ends are not overwritten.
//
// CHECK-LABEL: @killed
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage
func.func @killed(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  memory.kill %a : tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
