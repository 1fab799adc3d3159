// RUN: xrelay-opt --split-input-file -p lower-to-bytecode %s | filecheck %s

// A closure captures registers; a function as a value captures nothing.
//
// CHECK:      bytecode.func @main ("k" : tensor<f32, #cpu0>, "x" : tensor<f32, #cpu0>)
// CHECK-NEXT:   bytecode.alloc_closure r2, @second(r0)
// CHECK-NEXT:   bytecode.invoke_closure r3, r2(r1)
// CHECK-NEXT:   bytecode.alloc_closure r4, @id()
// CHECK-NEXT:   bytecode.invoke_closure r5, r4(r3)
// CHECK-NEXT:   bytecode.ret r5
!t = tensor<f32, #relay.device<cpu:0>>
func.func @second(%k: !t, %x: !t) -> !t {
  func.return %x : !t
}
func.func @id(%x: !relay.type_var<A, #relay.device<cpu:0>>) -> !relay.type_var<A, #relay.device<cpu:0>> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A, #relay.device<cpu:0>>
}
func.func @main(%k: !t, %x: !t) -> !t {
  %f = relay.closure @second(%k) : (!t) -> ((!t) -> !t)
  %y = relay.call %f(%x) : (!t) -> !t
  %g = relay.global @id<[tensor<f32>]> : (!t) -> !t
  %z = relay.call %g(%y) : (!t) -> !t
  func.return %z : !t
}

// -----

// A parameter that is a function is an object on the device of its parts, or on the host.
//
// CHECK: bytecode.func @functions ("f" : !bytecode.object<#cuda0>, "g" : !bytecode.object<#cpu0>, "u" : !bytecode.object<#cpu0>)
!t = tensor<f32, #relay.device<cuda:0>>
func.func @functions(%f: (!t) -> !t, %g: () -> tuple<>, %u: tuple<tuple<>>) {
  func.return
}
