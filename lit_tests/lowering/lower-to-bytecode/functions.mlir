// RUN: xrelay-opt --split-input-file -p lower-to-bytecode %s | filecheck %s

// Each value has a register of its own, parameters the first; a result has that of its outs.
//
// CHECK: builtin.module attributes {bytecode.devices = [#cpu0]}
// CHECK-NEXT:  bytecode.func @explicit_memory ("x" : tensor<4xf32, #cpu0>, "arg1" : tensor<4xf32, #cpu0>) registers 5 {
// CHECK-NEXT:    bytecode.alloc_storage r2, 32 align 64 on #cpu0
// CHECK-NEXT:    bytecode.alloc_tensor r3, r2[16] : tensor<4xf32>
// CHECK-NEXT:    bytecode.invoke_packed @add(r0, r1) -> (r3)
// CHECK-NEXT:    bytecode.reshape_tensor r4, r3 to [2, 2]
// CHECK-NEXT:    bytecode.ret r4
// CHECK-NEXT:  }
// CHECK-NEXT:  bytecode.kernel @add (tensor<4xf32>, tensor<4xf32>) -> [4] {
// CHECK-NEXT:    bytecode.kernel_constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    bytecode.step "relay.add" [0, 1] -> [3] : (tensor<4xf32>)
// CHECK-NEXT:    bytecode.step "relay.multiply" [3, 2] -> [4] : (tensor<4xf32>)
// CHECK-NEXT:  }
"func.func"() <{sym_name = "explicit_memory", function_type = (tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>) -> tensor<2x2xf32, #relay.device<cpu:0>>}> ({
^bb0(%x: tensor<4xf32, #relay.device<cpu:0>>, %1: tensor<4xf32, #relay.device<cpu:0>>):
  %s = memory.alloc_storage 32 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[16] : tensor<4xf32, #relay.device<cpu:0>>
  %y = vm.invoke_tvm_op @add ins(%x, %1 : tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %v = vm.reshape_tensor %y : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<2x2xf32, #relay.device<cpu:0>>
  memory.kill %y : tensor<4xf32, #relay.device<cpu:0>>
  func.return %v : tensor<2x2xf32, #relay.device<cpu:0>>
}) : () -> ()
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = relay.constant dense<2.0> : tensor<f32>
  %1 = relay.multiply %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relay.yield %1 : tensor<4xf32>
}

// -----

// Both regions of a branch move the values that they yield into new registers.
//
// CHECK:      bytecode.func @branch
// CHECK-NEXT:   bytecode.if r0 1, 3
// CHECK-NEXT:   bytecode.move r2, r1
// CHECK-NEXT:   bytecode.goto 4
// CHECK-NEXT:   bytecode.alloc_adt r3, 0(r1)
// CHECK-NEXT:   bytecode.get_field r4, r3[0]
// CHECK-NEXT:   bytecode.move r2, r4
// CHECK-NEXT:   bytecode.alloc_adt r5, 0(r1, r2)
// CHECK-NEXT:   bytecode.ret r5
func.func @branch(%c: tensor<i1, #relay.device<cpu:0>>, %x: tensor<4xf32, #relay.device<cpu:0>>) -> tuple<tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>> {
  %r = relay.if %c : tensor<i1, #relay.device<cpu:0>> -> (tensor<4xf32, #relay.device<cpu:0>>) {
    relay.yield %x : tensor<4xf32, #relay.device<cpu:0>>
  } else {
    %t = relay.tuple %x : (tensor<4xf32, #relay.device<cpu:0>>) -> tuple<tensor<4xf32, #relay.device<cpu:0>>>
    %y = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32, #relay.device<cpu:0>>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %y : tensor<4xf32, #relay.device<cpu:0>>
  }
  %p = relay.tuple %x, %r : (tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>) -> tuple<tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>>
  func.return %p : tuple<tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>>
}

// -----

// A function with several results returns a tuple, whose fields its callers get.
//
// CHECK:      bytecode.func @several
// CHECK-NEXT:   bytecode.alloc_adt r2, 0(r1, r0)
// CHECK-NEXT:   bytecode.ret r2
// CHECK:      bytecode.func @caller
// CHECK-NEXT:   bytecode.invoke r2, @several(r0, r1)
// CHECK-NEXT:   bytecode.get_field r3, r2[0]
// CHECK-NEXT:   bytecode.get_field r4, r2[1]
// CHECK-NEXT:   bytecode.invoke r5, @one(r4)
// CHECK-NEXT:   bytecode.invoke r6, @none()
// CHECK-NEXT:   bytecode.ret r5
// CHECK:      bytecode.func @one
// CHECK-NEXT:   bytecode.ret r0
// CHECK:      bytecode.func @none () registers 1 {
// CHECK-NEXT:   bytecode.alloc_adt r0, 0()
// CHECK-NEXT:   bytecode.ret r0
func.func @several(%a: tensor<f32, #relay.device<cpu:0>>, %b: tensor<f64, #relay.device<cpu:0>>) -> (tensor<f64, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>) {
  func.return %b, %a : tensor<f64, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>
}
func.func @caller(%a: tensor<f32, #relay.device<cpu:0>>, %b: tensor<f64, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
  %0, %1 = func.call @several(%a, %b) : (tensor<f32, #relay.device<cpu:0>>, tensor<f64, #relay.device<cpu:0>>) -> (tensor<f64, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>)
  %2 = func.call @one(%1) : (tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>>
  func.call @none() : () -> ()
  func.return %2 : tensor<f32, #relay.device<cpu:0>>
}
func.func @one(%a: tensor<f32, #relay.device<cpu:0>>) -> tensor<f32, #relay.device<cpu:0>> {
  func.return %a : tensor<f32, #relay.device<cpu:0>>
}
func.func @none() {
  func.return
}

// -----

// A block loads a constant once, and no shape of which only the numbers are read.
//
// CHECK-LABEL: bytecode.func @loaded_once
// CHECK:         bytecode.load_const r[[A:[0-9]+]], @const_0
// CHECK-NEXT:    bytecode.fill_rows r[[A]] -> r[[X:[0-9]+]][-1] axis 0 bound 4
// CHECK-NEXT:    bytecode.fill_rows r[[A]] -> r[[X]][1] axis 0 bound 4
// CHECK-NEXT:    bytecode.ret
func.func @loaded_once(%w: tensor<4xf32, #relay.device<cpu:0>>, %t: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %x = vm.invoke_tvm_op @add ins(%w, %w : tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %a = relay.constant dense<1.0> : tensor<f32> on #relay.device<cpu:0>
  %b = relay.constant dense<1.0> : tensor<f32> on #relay.device<cpu:0>
  %s = relay.constant dense<4> : tensor<1xi64> on #relay.device<cpu:0>
  %y = relay.fill_rows %x, %a, %s {axis = 0 : i64, start = -1 : i64} : (tensor<4xf32, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>, tensor<1xi64, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %z = relay.fill_rows %y, %b, %s {axis = 0 : i64, start = 1 : i64} : (tensor<4xf32, #relay.device<cpu:0>>, tensor<f32, #relay.device<cpu:0>>, tensor<1xi64, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return %z : tensor<4xf32, #relay.device<cpu:0>>
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %c : tensor<4xf32>
}

// -----

// Constants are shared by value and params by name, over functions and devices.
//
// CHECK: builtin.module attributes {bytecode.devices = [#cpu0, #cuda1]}
// CHECK-NEXT: bytecode.constant @const_0 dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: bytecode.late_constant @const_1 "w" : tensor<4xf32>
// CHECK-NEXT: bytecode.constant @const_2 dense<1.000000e+00> : tensor<3xf32>
// CHECK-NEXT: bytecode.func @constants
// CHECK-NEXT:   bytecode.load_const r0, @const_0 on #cuda1
// CHECK-NEXT:   bytecode.load_const r1, @const_1 on #cuda1
// CHECK-NEXT:   bytecode.load_const r2, @const_0 on #cpu0
// CHECK:      bytecode.func @more
// CHECK-NEXT:   bytecode.load_const r0, @const_1 on #cpu0
// CHECK-NEXT:   bytecode.load_const r1, @const_2 on #cpu0
func.func @constants() {
  %0 = relay.constant dense<1.0> : tensor<2xf32> on #relay.device<cuda:1, target = "nvptx">
  %1 = relay.param "w" : tensor<4xf32, #relay.device<cuda:1>>
  %2 = relay.constant dense<1.0> : tensor<2xf32> on #relay.device<cpu:0>
  func.return
}
func.func @more() {
  %0 = relay.param "w" : tensor<4xf32, #relay.device<cpu:0>>
  %1 = relay.constant dense<1.0> : tensor<3xf32> on #relay.device<cpu:0>
  func.return
}

// -----

// A copy names both devices; a tuple parameter is an object; names come from `relay.name`.
//
// CHECK:      bytecode.func @copy ("first" : tensor<4xf32, #cpu0>, "t" : !bytecode.object<#cuda0>, "first_2" : tensor<f32, #cpu0>)
// CHECK-NEXT:   bytecode.alloc_storage r3, 16 align 64 on #cuda0
// CHECK-NEXT:   bytecode.alloc_tensor r4, r3[0] : tensor<4xf32>
// CHECK-NEXT:   bytecode.device_copy r0 -> r4 from #cpu0 to #cuda0
// CHECK-NEXT:   bytecode.ret r4
func.func @copy(%x: tensor<4xf32, #relay.device<cpu:0>> {relay.name = "first"}, %t: tuple<tensor<4xf32, #relay.device<cuda:0>>>, %first: tensor<f32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %o = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cuda:0>>
  %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%o : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return %y : tensor<4xf32, #relay.device<cuda:0>>
}

// -----

// Dynamic shapes are in registers.
//
// CHECK:      bytecode.func @dynamic
// CHECK-NEXT:   bytecode.shape_of r1, r0
// CHECK-NEXT:   bytecode.alloc_storage r2, 64 align 64
// CHECK-NEXT:   bytecode.alloc_tensor_reg r3, r2[0] shape r1 : f32
// CHECK-NEXT:   bytecode.invoke_packed @k(r0) -> (r3)
// CHECK-NEXT:   bytecode.reshape_tensor r4, r3 to r1
func.func @dynamic(%x: tensor<?xf32, #relay.device<cpu:0>>) {
  %d = vm.shape_of %x : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>>
  %s = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[0] shape %d : tensor<1xi64, #relay.device<cpu:0>> -> tensor<?xf32, #relay.device<cpu:0>>
  %y = vm.invoke_tvm_op @k ins(%x : tensor<?xf32, #relay.device<cpu:0>>) outs(%t : tensor<?xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  %v = vm.reshape_tensor %y shape %d : (tensor<?xf32, #relay.device<cpu:0>>, tensor<1xi64, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return
}
relay.prim_func @k(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// A kernel that computes nothing has no steps.
//
// CHECK:      bytecode.kernel @same (tensor<4xf32>) -> [0, 1] {
// CHECK-NEXT:   bytecode.kernel_constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: }
// CHECK-NEXT: bytecode.kernel @softmax
// CHECK-NEXT:   bytecode.step "relay.nn.softmax" [0] -> [1] : (tensor<4x2xf32>) with {axis = 0 : i64}
relay.prim_func @same(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %c = relay.constant dense<1.0> : tensor<2xf32>
  relay.yield %a, %c : tensor<4xf32>, tensor<2xf32>
}
relay.prim_func @softmax(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = relay.nn.softmax %a {axis = 0} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  relay.yield %0 : tensor<4x2xf32>
}

// -----

// A call of a generic function is an ordinary call: the machine's functions have no types.
//
// CHECK-LABEL: bytecode.func @calls_generic
// CHECK:         bytecode.invoke r1, @id(r0)
func.func @id(%x: !relay.type_var<A, #relay.device<cpu:0>>) -> !relay.type_var<A, #relay.device<cpu:0>> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A, #relay.device<cpu:0>>
}
func.func @calls_generic(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %y = relay.invoke @id<[tensor<4xf32>]>(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return %y : tensor<4xf32, #relay.device<cpu:0>>
}

// -----

// If one function names results, those for callers from outside record theirs, with unique names; a
// tuple is on the device of its first tensor.
//
// CHECK: builtin.module attributes {bytecode.devices = [#cpu0, #cuda0]}
// CHECK: bytecode.func @names ("x" : tensor<f32, #cuda0>) -> ("output_1" : tensor<f32, #cuda0>, "output_1_" : tensor<f32, #cuda0>, "output_2" : tensor<f32, #cuda0>) registers
// CHECK: bytecode.func @without ("x" : tensor<f32, #cuda0>, "y" : tensor<f32, #cpu0>) -> ("output_0" : !bytecode.object<#cuda0>) registers
// CHECK: bytecode.func @inner ("x" : tensor<f32, #cuda0>) registers
func.func @names(%x: tensor<f32, #relay.device<cuda:0>>) -> (tensor<f32, #relay.device<cuda:0>> {relay.name = "output_1"}, tensor<f32, #relay.device<cuda:0>>, tensor<f32, #relay.device<cuda:0>> {relay.name = "output_1"}) {
  func.return %x, %x, %x : tensor<f32, #relay.device<cuda:0>>, tensor<f32, #relay.device<cuda:0>>, tensor<f32, #relay.device<cuda:0>>
}
func.func @without(%x: tensor<f32, #relay.device<cuda:0>>, %y: tensor<f32, #relay.device<cpu:0>>) -> tuple<tensor<f32, #relay.device<cuda:0>>, tensor<f32, #relay.device<cpu:0>>> {
  %t = relay.tuple %x, %y : (tensor<f32, #relay.device<cuda:0>>, tensor<f32, #relay.device<cpu:0>>) -> tuple<tensor<f32, #relay.device<cuda:0>>, tensor<f32, #relay.device<cpu:0>>>
  func.return %t : tuple<tensor<f32, #relay.device<cuda:0>>, tensor<f32, #relay.device<cpu:0>>>
}
func.func private @inner(%x: tensor<f32, #relay.device<cuda:0>>) -> (tensor<f32, #relay.device<cuda:0>> {relay.name = "z"}) {
  func.return %x : tensor<f32, #relay.device<cuda:0>>
}
