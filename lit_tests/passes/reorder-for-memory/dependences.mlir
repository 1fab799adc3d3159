// RUN: xrelay-opt -p reorder-for-memory %s 2>/dev/null | filecheck %s

// No op moves across one of unknown effects.
//
// CHECK-LABEL: func.func @unknown_effects
// CHECK:         %a = vm.invoke_tvm_op @grow
// CHECK-NEXT:    "test.op"() {here}
// CHECK:         %b = vm.invoke_tvm_op @grow
func.func @unknown_effects(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  "test.op"() {here} : () -> ()
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

// Calls of functions stay in order, as their effects are not known.
//
// CHECK-LABEL: func.func @calls
// CHECK:         %a = vm.invoke_tvm_op @grow
// CHECK:         func.call @other
// CHECK:         %b = vm.invoke_tvm_op @grow
func.func @calls(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  func.call @other(%x) : (tensor<16xf32>) -> ()
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
func.func @other(%x: tensor<16xf32>) {
  func.return
}

// A check stays above the ops that followed it, in the order of checks.
//
// CHECK-LABEL: func.func @checks
// CHECK:         relay.require eq %n, %m, "first"
// CHECK:         relay.require eq %m, %n, "second"
// CHECK:         %b = vm.invoke_tvm_op @grow
// CHECK:         %d = vm.invoke_tvm_op @shrink ins(%b
// CHECK:         %a = vm.invoke_tvm_op @grow
func.func @checks(%x: tensor<16xf32>, %n: i64, %m: i64) -> (tensor<64xf32>, tensor<16xf32>) {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  relay.require eq %n, %m, "first"
  relay.require eq %m, %n, "second"
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
  func.return %a, %d : tensor<64xf32>, tensor<16xf32>
}

// Reads of a cell stay between its writes.
//
// CHECK-LABEL: func.func @cells
// CHECK:         relay.ref_read
// CHECK:         %a = vm.invoke_tvm_op @grow
// CHECK:         relay.ref_write
func.func @cells(%x: tensor<16xf32>, %r: !relay.ref<tensor<16xf32>>) -> (tensor<64xf32>, tensor<16xf32>) {
  %v = relay.ref_read %r : (!relay.ref<tensor<16xf32>>) -> tensor<16xf32>
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%v : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %u = relay.ref_write %r, %x : (!relay.ref<tensor<16xf32>>, tensor<16xf32>) -> tuple<>
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
  func.return %a, %d : tensor<64xf32>, tensor<16xf32>
}

// Tensors in one storage are written and read in order: the second overwrites the first.
//
// CHECK-LABEL: func.func @shared_storage
// CHECK:         %a = vm.invoke_tvm_op @grow
// CHECK:         %c = vm.invoke_tvm_op @shrink ins(%a
// CHECK:         %b = vm.invoke_tvm_op @grow
// CHECK:         %d = vm.invoke_tvm_op @shrink ins(%b
func.func @shared_storage(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %s_c = memory.alloc_storage 64 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32>
  %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32>) outs(%t_c : tensor<16xf32>) -> tensor<16xf32>
  %t_b = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
  func.return %d, %c : tensor<16xf32>, tensor<16xf32>
}

// A kill stays after all uses of the bytes, under each of their names, and moves up to the last.
//
// CHECK-LABEL: func.func @kills
// CHECK:         %a = vm.invoke_tvm_op @grow
// CHECK-NEXT:    %v = vm.reshape_tensor %a
// CHECK:         %c = vm.invoke_tvm_op @shrink ins(%a
// CHECK-NEXT:    memory.kill %v
// CHECK:         %b = vm.invoke_tvm_op @grow
// CHECK:         %d = vm.invoke_tvm_op @shrink ins(%b
// CHECK-NEXT:    memory.kill %b
func.func @kills(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s_a = memory.alloc_storage 256 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<64xf32>
  %a = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_a : tensor<64xf32>) -> tensor<64xf32>
  %v = vm.reshape_tensor %a : (tensor<64xf32>) -> tensor<8x8xf32>
  %s_b = memory.alloc_storage 256 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<64xf32>
  %b = vm.invoke_tvm_op @grow ins(%x : tensor<16xf32>) outs(%t_b : tensor<64xf32>) -> tensor<64xf32>
  %s_c = memory.alloc_storage 64 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<16xf32>
  %c = vm.invoke_tvm_op @shrink ins(%a : tensor<64xf32>) outs(%t_c : tensor<16xf32>) -> tensor<16xf32>
  %s_d = memory.alloc_storage 64 align 64 : !memory.storage
  %t_d = memory.alloc_tensor %s_d[0] : tensor<16xf32>
  %d = vm.invoke_tvm_op @shrink ins(%b : tensor<64xf32>) outs(%t_d : tensor<16xf32>) -> tensor<16xf32>
  memory.kill %v : tensor<8x8xf32>
  memory.kill %b : tensor<64xf32>
  %s_e = memory.alloc_storage 64 align 64 : !memory.storage
  %t_e = memory.alloc_tensor %s_e[0] : tensor<16xf32>
  %e = vm.invoke_tvm_op @add ins(%c, %d : tensor<16xf32>, tensor<16xf32>) outs(%t_e : tensor<16xf32>) -> tensor<16xf32>
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
