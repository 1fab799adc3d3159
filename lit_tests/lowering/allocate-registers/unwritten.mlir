// RUN: xrelay-opt --split-input-file -p allocate-registers %s | filecheck %s

// A register that is read although no path writes it still holds nothing there, and the move that
// fails stays.
//
// CHECK:      bytecode.func @unwritten
// CHECK-SAME:   registers 2 {
// CHECK-NEXT:   bytecode.alloc_adt r0, 0(r0)
// CHECK-NEXT:   bytecode.move r1, r1
// CHECK-NEXT:   bytecode.ret r0
bytecode.func @unwritten ("x" : tensor<f32, #relay.device<cpu:0>>) registers 4 {
  bytecode.alloc_adt r2, 0(r0)
  bytecode.move r3, r1
  bytecode.ret r2
}

// -----

// So does one that was killed.
//
// CHECK:      bytecode.func @killed
// CHECK-SAME:   registers 2 {
// CHECK-NEXT:   bytecode.kill_register r0
// CHECK-NEXT:   bytecode.load_consti r1, 1
// CHECK-NEXT:   bytecode.ret r0
bytecode.func @killed ("x" : tensor<f32, #relay.device<cpu:0>>) registers 2 {
  bytecode.kill_register r0
  bytecode.load_consti r1, 1
  bytecode.ret r0
}
