// RUN: xrelay-opt -p reorder-for-memory --verify-diagnostics %s | filecheck %s

// Each arm of a branch is reordered on its own.
//
// CHECK-LABEL: func.func @arms
// CHECK:         relay.if
// CHECK:           %[[A:[a-z]+]] = vm.invoke_tvm_op @grow
// CHECK:           vm.invoke_tvm_op @shrink ins(%[[A]]
// CHECK:           %[[B:[a-z]+]] = vm.invoke_tvm_op @grow
// CHECK:           vm.invoke_tvm_op @shrink ins(%[[B]]
// CHECK:         } else {
//
// expected-remark@+1 {{peak of live bytes: from 576 to 384 bytes}}
func.func @arms(%c0: tensor<i1>, %x: tensor<16xf32>) -> tensor<16xf32> {
  %r = relay.if %c0 : tensor<i1> -> (tensor<16xf32>) {
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
    relay.yield %e : tensor<16xf32>
  } else {
    relay.yield %x : tensor<16xf32>
  }
  func.return %r : tensor<16xf32>
}

// In an arm the bytes from above that die there go first.
//
// CHECK-LABEL: func.func @bytes_from_above
// CHECK:         relay.if
// CHECK:           %c = vm.invoke_tvm_op @shrink ins(%a
// CHECK:           %b = vm.invoke_tvm_op @grow
//
// expected-remark@+1 {{peak of live bytes: from 576 to 384 bytes}}
func.func @bytes_from_above(%c0: tensor<i1>, %x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %r = relay.if %c0 : tensor<i1> -> (tensor<16xf32>) {
    %s_b = memory.alloc_storage 256 align 64 : !memory.storage
    %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
    %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
    %s_d = memory.alloc_storage 64 align 64 : !memory.storage
    %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
    %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
    %s_c = memory.alloc_storage 64 align 64 : !memory.storage
    %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32>
    %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32>) outs(%t_c : tensor<16xf32>) -> tensor<16xf32>
    %s_e = memory.alloc_storage 64 align 64 : !memory.storage
    %t_e = memory.alloc_tensor %s_e[0] : tensor<16xf32>
    %e = vm.invoke_tvm_op @add ins(%c, %d : tensor<16xf32>, tensor<16xf32>) outs(%t_e : tensor<16xf32>) -> tensor<16xf32>
    relay.yield %e : tensor<16xf32>
  } else {
    relay.yield %x : tensor<16xf32>
  }
  func.return %r : tensor<16xf32>
}

// A branch is one step of the block around it, which needs as much as its largest arm.
//
// CHECK-LABEL: func.func @not_in_the_middle
// CHECK:         %a = vm.invoke_tvm_op @grow
// CHECK:         %c = vm.invoke_tvm_op @shrink ins(%a
// CHECK:         relay.if
//
// expected-remark@+1 {{peak of live bytes: from 576 to 384 bytes}}
func.func @not_in_the_middle(%c0: tensor<i1>, %x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %r = relay.if %c0 : tensor<i1> -> (tensor<16xf32>) {
    %s_b = memory.alloc_storage 256 align 64 : !memory.storage
    %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
    %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
    %s_d = memory.alloc_storage 64 align 64 : !memory.storage
    %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
    %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
    relay.yield %d : tensor<16xf32>
  } else {
    relay.yield %x : tensor<16xf32>
  }
  %s_c = memory.alloc_storage 64 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32>
  %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32>) outs(%t_c : tensor<16xf32>) -> tensor<16xf32>
  %s_e = memory.alloc_storage 64 align 64 : !memory.storage
  %t_e = memory.alloc_tensor %s_e[0] : tensor<16xf32>
  %e = vm.invoke_tvm_op @add ins(%c, %r : tensor<16xf32>, tensor<16xf32>) outs(%t_e : tensor<16xf32>) -> tensor<16xf32>
  func.return %e : tensor<16xf32>
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
