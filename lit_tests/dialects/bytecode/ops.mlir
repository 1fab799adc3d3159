// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Constants have values, or names that are bound when the program is loaded.
//
// CHECK: builtin.module attributes {bytecode.devices = [#cpu0, #cuda0]}
// CHECK: bytecode.constant @const_0 dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: bytecode.late_constant @const_1 "conv1 \22w\22" : tensor<64x3x7x7xf32>
builtin.module attributes {bytecode.devices = [#relay.device<cpu:0>, #relay.device<cuda:0>]} {
  bytecode.constant @const_0 dense<[1.0, 2.0]> : tensor<2xf32>
  bytecode.late_constant @const_1 "conv1 \22w\22" : tensor<64x3x7x7xf32>
}

// -----

// A kernel numbers its arguments, then its constants, then what its steps compute.
//
// CHECK:      bytecode.kernel @dense (tensor<8x4xf32>, tensor<16x4xf32>) -> [4, 3] {
// CHECK-NEXT:   bytecode.kernel_constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   bytecode.step "relay.nn.dense" [0, 1] -> [3] : (tensor<8x16xf32>)
// CHECK-NEXT:   bytecode.step "relay.nn.softmax" [3] -> [4] : (tensor<8x16xf32>) with {axis = -1 : i64}
// CHECK-NEXT:   bytecode.step "relay.split" [0] -> [5, 6] : (tensor<4x4xf32>, tensor<4x4xf32>) with {indices_or_sections = 2 : i64, axis = 0 : i64}
// CHECK-NEXT: }
// CHECK:      bytecode.kernel @same () -> [] {
bytecode.kernel @dense (tensor<8x4xf32>, tensor<16x4xf32>) -> [4, 3] {
  bytecode.kernel_constant dense<1.0> : tensor<f32>
  bytecode.step "relay.nn.dense" [0, 1] -> [3] : (tensor<8x16xf32>)
  bytecode.step "relay.nn.softmax" [3] -> [4] : (tensor<8x16xf32>) with {axis = -1 : i64}
  bytecode.step "relay.split" [0] -> [5, 6] : (tensor<4x4xf32>, tensor<4x4xf32>) with {indices_or_sections = 2 : i64, axis = 0 : i64}
}
bytecode.kernel @same () -> [] {
}

// -----

// Every instruction names its registers in the order in which one reads it.
//
// CHECK:      bytecode.func @main ("x" : tensor<4xf32, #cpu0>, "t" : !bytecode.object<#cuda0>) registers 9 {
// CHECK-NEXT:   bytecode.move r3, r1
// CHECK-NEXT:   bytecode.invoke r4, @main(r0, r1)
// CHECK-NEXT:   bytecode.invoke_closure r4, r2(r0)
// CHECK-NEXT:   bytecode.invoke_packed @k(r0, r1) -> (r2, r3)
// CHECK-NEXT:   bytecode.alloc_tensor r2, r1[0] : tensor<4xf32>
// CHECK-NEXT:   bytecode.alloc_tensor r2, r1[r5] : tensor<f64>
// CHECK-NEXT:   bytecode.alloc_tensor_reg r2, r1[64] shape r5 : f32
// CHECK-NEXT:   bytecode.alloc_adt r3, 0(r1, r2)
// CHECK-NEXT:   bytecode.alloc_adt r3, 7()
// CHECK-NEXT:   bytecode.alloc_closure r3, @main(r1)
// CHECK-NEXT:   bytecode.alloc_ref r3, r1
// CHECK-NEXT:   bytecode.read_ref r4, r3
// CHECK-NEXT:   bytecode.write_ref r3, r2
// CHECK-NEXT:   bytecode.get_field r4, r3[1]
// CHECK-NEXT:   bytecode.if r1 1, 4
// CHECK-NEXT:   bytecode.if r1 eq r2 1, -4
// CHECK-NEXT:   bytecode.goto -3
// CHECK-NEXT:   bytecode.load_const r1, @c on #cpu0
// CHECK-NEXT:   bytecode.load_consti r1, -7
// CHECK-NEXT:   bytecode.get_tag r4, r3
// CHECK-NEXT:   bytecode.fatal
// CHECK-NEXT:   bytecode.alloc_storage r1, 140 align 64 on #cpu0
// CHECK-NEXT:   bytecode.alloc_storage r1, r5 align 64 on #cuda1
// CHECK-NEXT:   bytecode.slice_storage r2, r1[64] size r5 align 64
// CHECK-NEXT:   bytecode.slice_storage r2, r1[r5] size 8 align 64
// CHECK-NEXT:   bytecode.shape_of r2, r1
// CHECK-NEXT:   bytecode.compute r2, "muli"(r5, r6)
// CHECK-NEXT:   bytecode.compute r2, "from_elements"()
// CHECK-NEXT:   bytecode.require "eq" r5, r6, "{0} is not {1}"()
// CHECK-NEXT:   bytecode.require "divisible" r5, r6, "\22{0}\22 by {1} of {2}"(r2)
// CHECK-NEXT:   bytecode.pack r2, (r5, r6) align 64 lifetimes [0, 2, 1, 3] sizes (r3, 8)
// CHECK-NEXT:   bytecode.pack r2, (r5, r6) align 64 lifetimes [0, 2, 0, 2] sizes (r3, 8) arms [0, 0, 0, 1, 0, 1]
// CHECK-NEXT:   bytecode.reshape_tensor r2, r1 to [2, 2]
// CHECK-NEXT:   bytecode.reshape_tensor r2, r1 to []
// CHECK-NEXT:   bytecode.reshape_tensor r2, r1 to r5
// CHECK-NEXT:   bytecode.slice_tensor r2, r1[3] axis 0 to [2, 4]
// CHECK-NEXT:   bytecode.slice_tensor r2, r1[r5] axis 0 to r6
// CHECK-NEXT:   bytecode.join_tensors r2, (r1, r8) to [4, 4]
// CHECK-NEXT:   bytecode.join_tensors r2, (r1, r8) to r6
// CHECK-NEXT:   bytecode.copy_rows r1[3] -> r2[r6] axis 1 rows 2
// CHECK-NEXT:   bytecode.read_rows r1[r6] -> r2 axis 1 fill r3
// CHECK-NEXT:   bytecode.write_rows r1[0] -> r2[-1] axis 1 rows 2
// CHECK-NEXT:   bytecode.fill_rows r3 -> r2[r6] axis 1 bound 14
// CHECK-NEXT:   bytecode.device_copy r1 -> r2 from #cpu0 to #cuda0
// CHECK-NEXT:   bytecode.kill_register r8 {note}
// CHECK-NEXT:   bytecode.kill_storage r8
// CHECK-NEXT:   bytecode.take_rows r3, r2[64], r1[r5] axis 1 : tensor<1x2x4xf32>
// CHECK-NEXT:   bytecode.ret r3
// CHECK-NEXT: }
bytecode.func @main ("x" : tensor<4xf32, #relay.device<cpu:0>>, "t" : !bytecode.object<#relay.device<cuda:0>>) registers 9 {
  bytecode.move r3, r1
  bytecode.invoke r4, @main(r0, r1)
  bytecode.invoke_closure r4, r2(r0)
  bytecode.invoke_packed @k(r0, r1) -> (r2, r3)
  bytecode.alloc_tensor r2, r1[0] : tensor<4xf32>
  bytecode.alloc_tensor r2, r1[r5] : tensor<f64>
  bytecode.alloc_tensor_reg r2, r1[64] shape r5 : f32
  bytecode.alloc_adt r3, 0(r1, r2)
  bytecode.alloc_adt r3, 7()
  bytecode.alloc_closure r3, @main(r1)
  bytecode.alloc_ref r3, r1
  bytecode.read_ref r4, r3
  bytecode.write_ref r3, r2
  bytecode.get_field r4, r3[1]
  bytecode.if r1 1, 4
  bytecode.if r1 eq r2 1, -4
  bytecode.goto -3
  bytecode.load_const r1, @c on #relay.device<cpu:0>
  bytecode.load_consti r1, -7
  bytecode.get_tag r4, r3
  bytecode.fatal
  bytecode.alloc_storage r1, 140 align 64 on #relay.device<cpu:0>
  bytecode.alloc_storage r1, r5 align 64 on #relay.device<cuda:1>
  bytecode.slice_storage r2, r1[64] size r5 align 64
  bytecode.slice_storage r2, r1[r5] size 8 align 64
  bytecode.shape_of r2, r1
  bytecode.compute r2, "muli"(r5, r6)
  bytecode.compute r2, "from_elements"()
  bytecode.require "eq" r5, r6, "{0} is not {1}"()
  bytecode.require "divisible" r5, r6, "\"{0}\" by {1} of {2}"(r2)
  bytecode.pack r2, (r5, r6) align 64 lifetimes [0, 2, 1, 3] sizes (r3, 8)
  bytecode.pack r2, (r5, r6) align 64 lifetimes [0, 2, 0, 2] sizes (r3, 8) arms [0, 0, 0, 1, 0, 1]
  bytecode.reshape_tensor r2, r1 to [2, 2]
  bytecode.reshape_tensor r2, r1 to []
  bytecode.reshape_tensor r2, r1 to r5
  bytecode.slice_tensor r2, r1[3] axis 0 to [2, 4]
  bytecode.slice_tensor r2, r1[r5] axis 0 to r6
  bytecode.join_tensors r2, (r1, r8) to [4, 4]
  bytecode.join_tensors r2, (r1, r8) to r6
  bytecode.copy_rows r1[3] -> r2[r6] axis 1 rows 2
  bytecode.read_rows r1[r6] -> r2 axis 1 fill r3
  bytecode.write_rows r1[0] -> r2[-1] axis 1 rows 2
  bytecode.fill_rows r3 -> r2[r6] axis 1 bound 14
  bytecode.device_copy r1 -> r2 from #relay.device<cpu:0> to #relay.device<cuda:0>
  bytecode.kill_register r8 {note}
  bytecode.kill_storage r8
  bytecode.take_rows r3, r2[64], r1[r5] axis 1 : tensor<1x2x4xf32>
  bytecode.ret r3
}

// -----

// A function may tell what its callers get, with names of dims, or that they get nothing.
//
// CHECK:      bytecode.func @tells ("x" : tensor<?xf32, #cpu0> dims ["n"]) -> ("y" : tensor<?xf32, #cpu0> dims ["n"], "a \22b\22" : !bytecode.object<#cpu0>) bounds {n = [1 : i64, 2 : i64]} registers 2 {
// CHECK:      bytecode.func @tells_none () -> () registers 1 {
bytecode.func @tells ("x" : tensor<?xf32, #relay.device<cpu:0>> dims ["n"]) -> ("y" : tensor<?xf32, #relay.device<cpu:0>> dims ["n"], "a \22b\22" : !bytecode.object<#relay.device<cpu:0>>) bounds {n = [1, 2]} registers 2 {
  bytecode.alloc_adt r1, 0(r0, r0)
  bytecode.ret r1
}
bytecode.func @tells_none () -> () registers 1 {
  bytecode.alloc_adt r0, 0()
  bytecode.ret r0
}

// -----

// Dims of parameters may have names, and a kernel may read sizes on the host.
//
// CHECK:      bytecode.func @named ("x" : tensor<?x4xf32, #cpu0> dims ["n", ""], "y" : tensor<f32, #cpu0>, "z" : tensor<?xf32, #cpu0> dims ["n"]) registers 3 {
// CHECK:      bytecode.kernel @fill (tensor<f32>, tensor<2xi64>) host [1] -> [2] {
bytecode.func @named ("x" : tensor<?x4xf32, #relay.device<cpu:0>> dims ["n", ""], "y" : tensor<f32, #relay.device<cpu:0>>, "z" : tensor<?xf32, #relay.device<cpu:0>> dims ["n"]) registers 3 {
  bytecode.ret r0
}
bytecode.kernel @fill (tensor<f32>, tensor<2xi64>) host [1] -> [2] {
  bytecode.step "relay.dyn.full" [0, 1] -> [2] : (tensor<?x?xf32>) with {dtype = f32}
}
