// RUN: xrelay-opt --split-input-file -p forward-copies %s | filecheck %s

// Rows are copied at once to where a copy of the copy has them, if little is live meanwhile.
//
// CHECK-LABEL: @low
// CHECK:         %[[T:.*]] = memory.alloc_tensor %{{.*}}[0] : tensor<2x4xf32>
// CHECK-NEXT:    %[[C:.*]] = memory.copy_rows ins(%x : {{.*}}) outs(%[[T]] : {{.*}}) {axis = 0 : i64, start = 5 : i64}
// CHECK-NEXT:    "test.op"() {between}
// CHECK-NEXT:    "test.op"(%[[C]])
// CHECK-NOT:     memory.copy_rows
func.func @low(%x: tensor<8x4xf32>) {
  %p = memory.alloc_storage 1024 align 64 : !memory.storage
  %q = memory.alloc_tensor %p[0] : tensor<256xf32>
  %b = vm.invoke_tvm_op @big outs(%q : tensor<256xf32>) -> tensor<256xf32>
  "test.op"(%b) : (tensor<256xf32>) -> ()
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %k = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%t : tensor<2x4xf32>) {axis = 0 : i64, start = 5 : i64} -> tensor<2x4xf32>
  "test.op"() {between} : () -> ()
  %r = memory.alloc_storage 32 align 64 : !memory.storage
  %u = memory.alloc_tensor %r[0] : tensor<2x4xf32>
  %c = memory.copy_rows ins(%k : tensor<2x4xf32>) outs(%u : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  "test.op"(%c) : (tensor<2x4xf32>) -> ()
  func.return
}
relay.prim_func @big() -> tensor<256xf32> {
  %z = relay.zeros {shape = array<i64: 256>, dtype = f32} : tensor<256xf32>
  relay.yield %z : tensor<256xf32>
}

// -----

// Near the peak, two copies are easier to place.
//
// CHECK-LABEL: @high
// CHECK-COUNT-2: memory.copy_rows
func.func @high(%x: tensor<8x4xf32>) {
  %p = memory.alloc_storage 1024 align 64 : !memory.storage
  %q = memory.alloc_tensor %p[0] : tensor<256xf32>
  %b = vm.invoke_tvm_op @big outs(%q : tensor<256xf32>) -> tensor<256xf32>
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %k = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%t : tensor<2x4xf32>) {axis = 0 : i64, start = 5 : i64} -> tensor<2x4xf32>
  "test.op"(%b) : (tensor<256xf32>) -> ()
  %r = memory.alloc_storage 32 align 64 : !memory.storage
  %u = memory.alloc_tensor %r[0] : tensor<2x4xf32>
  %c = memory.copy_rows ins(%k : tensor<2x4xf32>) outs(%u : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  "test.op"(%c) : (tensor<2x4xf32>) -> ()
  func.return
}
relay.prim_func @big() -> tensor<256xf32> {
  %z = relay.zeros {shape = array<i64: 256>, dtype = f32} : tensor<256xf32>
  relay.yield %z : tensor<256xf32>
}

// -----

// Nor where the bytes that the second copy writes over are still read, or the first copy is.
//
// CHECK-LABEL: @read
// CHECK-COUNT-4: memory.copy_rows
func.func @read(%x: tensor<8x4xf32>) {
  %p = memory.alloc_storage 1024 align 64 : !memory.storage
  %q = memory.alloc_tensor %p[0] : tensor<256xf32>
  %b = vm.invoke_tvm_op @big outs(%q : tensor<256xf32>) -> tensor<256xf32>
  "test.op"(%b) : (tensor<256xf32>) -> ()
  %r = memory.alloc_storage 32 align 64 : !memory.storage
  %v = memory.alloc_tensor %r[0] : tensor<2x4xf32>
  %h = vm.invoke_tvm_op @f outs(%v : tensor<2x4xf32>) -> tensor<2x4xf32>
  %l = relay.loop %h {count = 3 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %k = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%t : tensor<2x4xf32>) {axis = 0 : i64, start = 5 : i64} -> tensor<2x4xf32>
  "test.op"(%l) : (tensor<2x4xf32>) -> ()
  %u = memory.alloc_tensor %r[0] : tensor<2x4xf32>
  %c = memory.copy_rows ins(%k : tensor<2x4xf32>) outs(%u : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  %e = relay.end_loop %c : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s2 = memory.alloc_storage 32 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<2x4xf32>
  %k2 = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%t2 : tensor<2x4xf32>) {axis = 0 : i64, start = 5 : i64} -> tensor<2x4xf32>
  %r2 = memory.alloc_storage 32 align 64 : !memory.storage
  %u2 = memory.alloc_tensor %r2[0] : tensor<2x4xf32>
  %c2 = memory.copy_rows ins(%k2 : tensor<2x4xf32>) outs(%u2 : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  "test.op"(%c2, %k2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  func.return
}
relay.prim_func @f() -> tensor<2x4xf32> {
  %z = relay.zeros {shape = array<i64: 2, 4>, dtype = f32} : tensor<2x4xf32>
  relay.yield %z : tensor<2x4xf32>
}
relay.prim_func @big() -> tensor<256xf32> {
  %z = relay.zeros {shape = array<i64: 256>, dtype = f32} : tensor<256xf32>
  relay.yield %z : tensor<256xf32>
}

// -----

// Two copies of the same rows that would be live at once are one, others are not.
//
// CHECK-LABEL: @same
// CHECK:         %[[A:.*]] = memory.copy_rows ins(%x : {{.*}}) outs(%{{.*}} : {{.*}}) {axis = 0 : i64, start = 5 : i64}
// CHECK-NOT:     memory.copy_rows
// CHECK:         vm.invoke_tvm_op @add ins(%[[A]], %[[A]] :
// CHECK-COUNT-2: memory.copy_rows
// CHECK-NOT:     memory.copy_rows
func.func @same(%x: tensor<8x4xf32>) {
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %a = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%t : tensor<2x4xf32>) {axis = 0 : i64, start = 5 : i64} -> tensor<2x4xf32>
  %r = memory.alloc_storage 32 align 64 : !memory.storage
  %u = memory.alloc_tensor %r[0] : tensor<2x4xf32>
  %b = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%u : tensor<2x4xf32>) {axis = 0 : i64, start = 5 : i64} -> tensor<2x4xf32>
  %p = memory.alloc_storage 32 align 64 : !memory.storage
  %o = memory.alloc_tensor %p[0] : tensor<2x4xf32>
  %c = vm.invoke_tvm_op @add ins(%a, %b : tensor<2x4xf32>, tensor<2x4xf32>) outs(%o : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r1 = memory.alloc_storage 32 align 64 : !memory.storage
  %u1 = memory.alloc_tensor %r1[0] : tensor<2x4xf32>
  %later = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%u1 : tensor<2x4xf32>) {axis = 0 : i64, start = 5 : i64} -> tensor<2x4xf32>
  %r2 = memory.alloc_storage 32 align 64 : !memory.storage
  %u2 = memory.alloc_tensor %r2[0] : tensor<2x4xf32>
  %other = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%u2 : tensor<2x4xf32>) {axis = 0 : i64, start = 4 : i64} -> tensor<2x4xf32>
  %p2 = memory.alloc_storage 32 align 64 : !memory.storage
  %o2 = memory.alloc_tensor %p2[0] : tensor<2x4xf32>
  %d = vm.invoke_tvm_op @add ins(%later, %other : tensor<2x4xf32>, tensor<2x4xf32>) outs(%o2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}
relay.prim_func @add(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %z = relay.add %x, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  relay.yield %z : tensor<2x4xf32>
}
