// RUN: xrelay-opt -p lower-to-bytecode %s | filecheck %s

// A reference is a mutable cell; a write returns the empty tuple.
//
// CHECK:      bytecode.func @cell ("x" : tensor<f32, #cpu0>)
// CHECK-NEXT:   bytecode.alloc_ref r1, r0
// CHECK-NEXT:   bytecode.write_ref r1, r0
// CHECK-NEXT:   bytecode.alloc_adt r2, 0()
// CHECK-NEXT:   bytecode.read_ref r3, r1
// CHECK-NEXT:   bytecode.alloc_adt r4, 0(r2, r3)
!t = tensor<f32, #relay.device<cpu:0>>
func.func @cell(%x: !t) -> (tuple<>, !t) {
  %r = relay.ref_create %x : (!t) -> !relay.ref<!t>
  %u = relay.ref_write %r, %x : (!relay.ref<!t>, !t) -> tuple<>
  %y = relay.ref_read %r : (!relay.ref<!t>) -> !t
  func.return %u, %y : tuple<>, !t
}
