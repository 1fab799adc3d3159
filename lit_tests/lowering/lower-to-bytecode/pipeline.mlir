// RUN: xrelay-opt -p vm %s | filecheck %s
// RUN: xrelay-opt -p vm --verify-each=false %s | filecheck %s

// The pipeline `vm` lowers a network to instructions.
//
// CHECK: bytecode.devices = [#cpu0]
// CHECK-NEXT: bytecode.late_constant @const_0 "w1" : tensor<16x8xf32>
// CHECK-NEXT: bytecode.late_constant @const_1 "b1" : tensor<16xf32>
// CHECK-NEXT: bytecode.func @main ("x" : tensor<4x8xf32, #cpu0>) registers 5 {
// CHECK-NEXT:   bytecode.load_const r1, @const_0 on #cpu0
// CHECK-NEXT:   bytecode.load_const r2, @const_1 on #cpu0
// CHECK-NEXT:   bytecode.alloc_storage r3, 256 align 64 on #cpu0
// CHECK-NEXT:   bytecode.alloc_tensor r4, r3[0] : tensor<4x16xf32>
// CHECK-NEXT:   bytecode.invoke_packed @fused_nn_dense_add_multiply(r0, r1, r2) -> (r4)
// CHECK-NEXT:   bytecode.alloc_tensor r0, r3[0] : tensor<4x16xf32>
// CHECK-NEXT:   bytecode.invoke_packed @fused_nn_softmax(r4) -> (r0)
// CHECK-NEXT:   bytecode.reshape_tensor r0, r0 to [64]
// CHECK-NEXT:   bytecode.ret r0
// CHECK-NEXT: }
// CHECK-NEXT: bytecode.kernel @fused_nn_dense_add_multiply
// CHECK-NOT:  @fused_exp
// CHECK:      bytecode.kernel @fused_nn_softmax
// CHECK-NOT:  bytecode.kernel
func.func @main(%x: tensor<4x8xf32>) -> !relay.incomplete {
  %w = relay.param "w1" : tensor<16x8xf32>
  %b = relay.param "b1" : tensor<16xf32>
  %one = relay.constant dense<1.0> : tensor<f32>
  %two = relay.add %one, %one : (tensor<f32>, tensor<f32>) -> !relay.incomplete
  %0 = relay.nn.dense %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> !relay.incomplete
  %1 = relay.add %0, %b : (!relay.incomplete, tensor<16xf32>) -> !relay.incomplete
  %2 = relay.multiply %1, %two : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %unused = relay.exp %2 : (!relay.incomplete) -> !relay.incomplete
  %3 = relay.nn.softmax %2 : (!relay.incomplete) -> !relay.incomplete
  %4 = relay.reshape %3 {newshape = array<i64: -1>} : (!relay.incomplete) -> !relay.incomplete
  func.return %4 : !relay.incomplete
}
