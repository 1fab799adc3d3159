// RUN: xrelay-opt --split-input-file -p allocate-registers %s | filecheck %s

// A branch writes its result where the other one does; neither moves it, and there is nothing to jump
// over.
//
// CHECK:      bytecode.func @moves
// CHECK-SAME:   registers 2 {
// CHECK-NEXT:   bytecode.if r0 1, 2
// CHECK-NEXT:   bytecode.alloc_adt r1, 0(r1)
// CHECK-NEXT:   bytecode.ret r1
bytecode.func @moves ("c" : tensor<i1, #relay.device<cpu:0>>, "x" : tensor<f32, #relay.device<cpu:0>>) registers 4 {
  bytecode.if r0 1, 5
  bytecode.alloc_adt r2, 0(r1)
  bytecode.move r3, r2
  bytecode.kill_register r2
  bytecode.goto 2
  bytecode.move r3, r1
  bytecode.ret r3
}

// -----

// What is used after the merge keeps its register; a call in tail position is followed by `ret`.
//
// CHECK:      bytecode.func @used_later
// CHECK-NEXT:   bytecode.if r0 1, 3
// CHECK-NEXT:   bytecode.move r0, r1
// CHECK-NEXT:   bytecode.goto 2
// CHECK-NEXT:   bytecode.invoke r0, @used_later(r0, r1)
// CHECK-NEXT:   bytecode.alloc_adt r0, 0(r0, r1)
// CHECK-NEXT:   bytecode.ret r0
bytecode.func @used_later ("c" : tensor<i1, #relay.device<cpu:0>>, "x" : tensor<f32, #relay.device<cpu:0>>) registers 5 {
  bytecode.if r0 1, 3
  bytecode.move r3, r1
  bytecode.goto 3
  bytecode.invoke r2, @used_later(r0, r1)
  bytecode.move r3, r2
  bytecode.alloc_adt r4, 0(r3, r1)
  bytecode.ret r4
}

// -----

// A register has holes: r2 is free in the first branch, which does not read it.
//
// CHECK:      bytecode.func @hole
// CHECK-SAME:   registers 3 {
// CHECK-NEXT:   bytecode.load_consti r2, 7
// CHECK-NEXT:   bytecode.if r0 1, 4
// CHECK-NEXT:   bytecode.load_consti r2, 8
// CHECK-NEXT:   bytecode.write_ref r1, r2
// CHECK-NEXT:   bytecode.goto 2
// CHECK-NEXT:   bytecode.write_ref r1, r2
// CHECK-NEXT:   bytecode.alloc_adt r0, 0(r0, r1)
// CHECK-NEXT:   bytecode.ret r0
bytecode.func @hole ("c" : tensor<i1, #relay.device<cpu:0>>, "x" : !bytecode.object<#relay.device<cpu:0>>) registers 6 {
  bytecode.load_consti r2, 7
  bytecode.if r0 1, 4
  bytecode.load_consti r3, 8
  bytecode.write_ref r1, r3
  bytecode.goto 2
  bytecode.write_ref r1, r2
  bytecode.alloc_adt r4, 0(r0, r1)
  bytecode.ret r4
}

// -----

// A loop: what the next round reads is live in the whole loop.
//
// CHECK:      bytecode.func @loop
// CHECK-SAME:   registers 3 {
// CHECK-NEXT:   bytecode.load_consti r1, -1
// CHECK-NEXT:   bytecode.if r0 1, 4
// CHECK-NEXT:   bytecode.compute r2, "muli"(r0, r1)
// CHECK-NEXT:   bytecode.compute r0, "addi"(r0, r2)
// CHECK-NEXT:   bytecode.goto -3
// CHECK-NEXT:   bytecode.ret r0
bytecode.func @loop ("n" : tensor<i64, #relay.device<cpu:0>>) registers 9 {
  bytecode.load_consti r5, -1
  bytecode.move r4, r0
  bytecode.if r4 1, 5
  bytecode.compute r6, "muli"(r4, r5)
  bytecode.compute r7, "addi"(r4, r6)
  bytecode.move r4, r7
  bytecode.goto -4
  bytecode.ret r4
}

// -----

// What no path reaches is erased.
//
// CHECK:      bytecode.func @unreachable
// CHECK-NEXT:   bytecode.ret r0
// CHECK-NEXT: }
bytecode.func @unreachable ("x" : tensor<f32, #relay.device<cpu:0>>) registers 2 {
  bytecode.goto 3
  bytecode.move r1, r0
  bytecode.goto -1
  bytecode.ret r0
}
