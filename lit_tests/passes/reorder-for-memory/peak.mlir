// RUN: xrelay-opt -p reorder-for-memory --verify-diagnostics %s | filecheck %s

// Two large results are not live at once if what is made of the one comes before the other; calls
// move with their allocations.
//
// CHECK-LABEL: func.func @one_after_the_other
// CHECK-NEXT:    memory.alloc_storage 256
// CHECK-NEXT:    memory.alloc_tensor
// CHECK-NEXT:    %[[A:[a-z]+]] = vm.invoke_tvm_op @grow
// CHECK-NEXT:    memory.alloc_storage 64
// CHECK-NEXT:    memory.alloc_tensor
// CHECK-NEXT:    vm.invoke_tvm_op @shrink ins(%[[A]]
// CHECK-NEXT:    memory.alloc_storage 256
// CHECK-NEXT:    memory.alloc_tensor
// CHECK-NEXT:    %[[B:[a-z]+]] = vm.invoke_tvm_op @grow
// CHECK-NEXT:    memory.alloc_storage 64
// CHECK-NEXT:    memory.alloc_tensor
// CHECK-NEXT:    vm.invoke_tvm_op @shrink ins(%[[B]]
// CHECK:         vm.invoke_tvm_op @add
//
// expected-remark@+1 {{peak of live bytes: from 576 to 384 bytes, the least of any order}}
func.func @one_after_the_other(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
  %s_c = memory.alloc_storage 64 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32>
  %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32>) outs(%t_c : tensor<16xf32>) -> tensor<16xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
  %s_e = memory.alloc_storage 64 align 64 : !memory.storage
  %t_e = memory.alloc_tensor %s_e[0] : tensor<16xf32>
  %e = vm.invoke_tvm_op @add ins(%c, %d : tensor<16xf32>, tensor<16xf32>) outs(%t_e : tensor<16xf32>) -> tensor<16xf32>
  func.return %e : tensor<16xf32>
}

// An order with the lowest peak is not changed, even if there are others.
//
// CHECK-LABEL: func.func @unchanged
// CHECK:         vm.invoke_tvm_op @shrink ins(%a
// CHECK:         vm.invoke_tvm_op @shrink ins(%b
// CHECK:         vm.invoke_tvm_op @add
//
// expected-remark@+1 {{peak of live bytes: stays 384 bytes, the least of any order}}
func.func @unchanged(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %s_c = memory.alloc_storage 64 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32>
  %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32>) outs(%t_c : tensor<16xf32>) -> tensor<16xf32>
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
  %s_e = memory.alloc_storage 64 align 64 : !memory.storage
  %t_e = memory.alloc_tensor %s_e[0] : tensor<16xf32>
  %e = vm.invoke_tvm_op @add ins(%c, %d : tensor<16xf32>, tensor<16xf32>) outs(%t_e : tensor<16xf32>) -> tensor<16xf32>
  func.return %e : tensor<16xf32>
}

// Impure kernels are called in the order of the program.
//
// CHECK-LABEL: func.func @impure
// CHECK:         %[[A:[a-z]+]] = vm.invoke_tvm_op @grow
// CHECK:         %[[B:[a-z]+]] = vm.invoke_tvm_op @grow
// CHECK:         vm.invoke_tvm_op @shrink ins(%[[A]]
// CHECK:         vm.invoke_tvm_op @shrink ins(%[[B]]
//
// expected-remark@+1 {{peak of live bytes: stays 576 bytes}}
func.func @impure(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) {impure} -> tensor<64xf32>
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) {impure} -> tensor<64xf32>
  %s_c = memory.alloc_storage 64 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32>
  %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32>) outs(%t_c : tensor<16xf32>) {impure} -> tensor<16xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) {impure} -> tensor<16xf32>
  %s_e = memory.alloc_storage 64 align 64 : !memory.storage
  %t_e = memory.alloc_tensor %s_e[0] : tensor<16xf32>
  %e = vm.invoke_tvm_op @add ins(%c, %d : tensor<16xf32>, tensor<16xf32>) outs(%t_e : tensor<16xf32>) -> tensor<16xf32>
  func.return %e : tensor<16xf32>
}

// What is returned is live to the end, so it is computed last.
//
// CHECK-LABEL: func.func @results_last
// CHECK:         %b = vm.invoke_tvm_op @grow
// CHECK:         %d = vm.invoke_tvm_op @shrink ins(%b
// CHECK:         %a = vm.invoke_tvm_op @grow
//
// expected-remark@+1 {{peak of live bytes: from 576 to 320 bytes, the least of any order}}
func.func @results_last(%x: tensor<16xf32>) -> (tensor<64xf32>, tensor<16xf32>) {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
  func.return %a, %d : tensor<64xf32>, tensor<16xf32>
}

relay.prim_func @grow(%x: tensor<16xf32>) -> tensor<64xf32> {
  %y = relay.tile %x {reps = array<i64: 4>} : (tensor<16xf32>) -> tensor<64xf32>
  relay.yield %y : tensor<64xf32>
}
relay.prim_func @shrink(%x: tensor<64xf32>) -> tensor<16xf32> {
  %y = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 16>, strides = array<i64: 1>} : (tensor<64xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @add(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.add %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  relay.yield %z : tensor<16xf32>
}
