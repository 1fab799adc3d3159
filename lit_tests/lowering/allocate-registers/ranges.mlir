// RUN: xrelay-opt --split-input-file -p allocate-registers %s | filecheck %s

// The registers of a chain are as many as are live at once, a parameter's among them; a kill of what
// the same instruction overwrites is erased.
//
// CHECK:      bytecode.func @chain ("x" : tensor<4xf32, #cpu0>) registers 3 {
// CHECK-NEXT:   bytecode.alloc_storage r1, 64 align 64 on #cpu0
// CHECK-NEXT:   bytecode.alloc_tensor r2, r1[0] : tensor<4xf32>
// CHECK-NEXT:   bytecode.invoke_packed @f(r0) -> (r2)
// CHECK-NEXT:   bytecode.alloc_tensor r0, r1[16] : tensor<4xf32>
// CHECK-NEXT:   bytecode.invoke_packed @f(r2) -> (r0)
// CHECK-NEXT:   bytecode.kill_register r2
// CHECK-NEXT:   bytecode.alloc_tensor r1, r1[0] : tensor<4xf32>
// CHECK-NEXT:   bytecode.invoke_packed @f(r0) -> (r1)
// CHECK-NEXT:   bytecode.kill_register r0
// CHECK-NEXT:   bytecode.ret r1
bytecode.func @chain ("x" : tensor<4xf32, #relay.device<cpu:0>>) registers 5 {
  bytecode.alloc_storage r1, 64 align 64 on #relay.device<cpu:0>
  bytecode.alloc_tensor r2, r1[0] : tensor<4xf32>
  bytecode.invoke_packed @f(r0) -> (r2)
  bytecode.alloc_tensor r3, r1[16] : tensor<4xf32>
  bytecode.invoke_packed @f(r2) -> (r3)
  bytecode.kill_register r2
  bytecode.alloc_tensor r4, r1[0] : tensor<4xf32>
  bytecode.kill_register r1
  bytecode.invoke_packed @f(r3) -> (r4)
  bytecode.kill_register r3
  bytecode.ret r4
}

// -----

// A kill moves up to the last use in its block.
//
// CHECK:      bytecode.func @early
// CHECK-NEXT:   bytecode.get_field r1, r0[0]
// CHECK-NEXT:   bytecode.write_ref r0, r1
// CHECK-NEXT:   bytecode.kill_register r1
// CHECK-NEXT:   bytecode.alloc_adt r0, 0(r0)
// CHECK-NEXT:   bytecode.ret r0
bytecode.func @early ("x" : !bytecode.object<#relay.device<cpu:0>>) registers 4 {
  bytecode.get_field r1, r0[0]
  bytecode.write_ref r0, r1
  bytecode.alloc_adt r3, 0(r0)
  bytecode.kill_register r1
  bytecode.ret r3
}

// -----

// All results of an instruction are live together, used or not.
//
// CHECK:      bytecode.func @results
// CHECK:        bytecode.pack r0, (r1, r2) align 64
// CHECK-NEXT:   bytecode.ret r2
bytecode.func @results ("x" : tensor<i64, #relay.device<cpu:0>>) registers 6 {
  bytecode.load_consti r1, 64
  bytecode.pack r3, (r4, r5) align 64 lifetimes [0, 1, 0, 1] sizes (r0, r1)
  bytecode.ret r5
}
