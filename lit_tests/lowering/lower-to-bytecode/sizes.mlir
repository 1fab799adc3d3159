// RUN: xrelay-opt --split-input-file -p lower-to-bytecode %s | filecheck %s

// Arithmetic on sizes is instructions on registers; conversions that keep the number are none.
//
// CHECK-LABEL: bytecode.func @arithmetic
// CHECK-NEXT:    bytecode.shape_of r1, r0
// CHECK-NEXT:    bytecode.load_consti r2, 0
// CHECK-NEXT:    bytecode.compute r3, "extract"(r1, r2)
// CHECK-NEXT:    bytecode.load_consti r4, 4
// CHECK-NEXT:    bytecode.compute r5, "muli"(r3, r4)
// CHECK-NEXT:    bytecode.compute r6, "cmpi_slt"(r5, r4)
// CHECK-NEXT:    bytecode.compute r7, "select"(r6, r5, r4)
// CHECK-NEXT:    bytecode.compute r8, "slice_length"(r7, r4, r5, r4)
// CHECK-NEXT:    bytecode.compute r9, "trunci_32"(r8)
// CHECK-NEXT:    bytecode.compute r10, "from_elements"(r8, r8)
// CHECK-NEXT:    bytecode.ret r10
func.func @arithmetic(%x: tensor<?xf32, #relay.device<cpu:0>>) -> tensor<2xi64, #relay.device<cpu:0>> {
  %s = vm.shape_of %x : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>>
  %zero = arith.constant 0 : index
  %n = tensor.extract %s[%zero] : tensor<1xi64, #relay.device<cpu:0>>
  %four = arith.constant 4 : i64
  %bytes = arith.muli %n, %four : i64
  %less = arith.cmpi slt, %bytes, %four : i64
  %least = arith.select %less, %bytes, %four : i64
  %length = relay.measure "slice_length"(%least, %four, %bytes, %four) : (i64, i64, i64, i64) -> i64
  %narrow = arith.trunci %length : i64 to i32
  %wide = arith.extsi %narrow : i32 to i64
  %index = arith.index_cast %length : i64 to index
  %again = arith.index_cast %index : index to i64
  %dims = tensor.from_elements %again, %length : tensor<2xi64, #relay.device<cpu:0>>
  func.return %dims : tensor<2xi64, #relay.device<cpu:0>>
}

// -----

// A signed bit is 0 or -1, an unsigned one 0 or 1; narrow results must fit.
//
// CHECK-LABEL: bytecode.func @bits
// CHECK:         bytecode.load_consti r[[Z:[0-9]+]], 0
// CHECK:         bytecode.compute r[[B:[0-9]+]], "cmpi_eq"
// CHECK-NEXT:    bytecode.compute r[[S:[0-9]+]], "subi"(r[[Z]], r[[B]])
// CHECK-NEXT:    bytecode.compute r[[A:[0-9]+]], "addi"(r[[S]], r[[B]])
// CHECK-NEXT:    bytecode.compute r{{[0-9]+}}, "trunci_8"(r[[A]])
func.func @bits(%x: tensor<2xi64, #relay.device<cpu:0>>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = tensor.extract %x[%zero] : tensor<2xi64, #relay.device<cpu:0>>
  %m = tensor.extract %x[%one] : tensor<2xi64, #relay.device<cpu:0>>
  %b = arith.cmpi eq, %n, %m : i64
  %signed = arith.extsi %b : i1 to i8
  %unsigned = arith.extui %b : i1 to i8
  %sum = arith.addi %signed, %unsigned : i8
  func.return
}

// -----

// A call of a shape function is its body, and its destination is not allocated; what remains of
// the shape function is nothing.
//
// CHECK-LABEL: bytecode.func @inlined
// CHECK-NEXT:    bytecode.shape_of r1, r0
// CHECK-NEXT:    bytecode.load_consti r2, 0
// CHECK-NEXT:    bytecode.compute r3, "extract"(r1, r2)
// CHECK-NEXT:    bytecode.load_consti r4, 3
// CHECK-NEXT:    bytecode.require "at_most" r3, r4, "{0} is more than {1}"()
// CHECK-NEXT:    bytecode.compute r5, "from_elements"(r3, r4)
// CHECK-NEXT:    bytecode.ret r5
// CHECK-NEXT:  }
// CHECK-NOT:   @shape
func.func @inlined(%x: tensor<?xf32, #relay.device<cpu:0>>) -> tensor<2xi64, #relay.device<cpu:0>> {
  %s = vm.shape_of %x : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>>
  %m = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %m[0] : tensor<2xi64, #relay.device<cpu:0>>
  %r = vm.shape_func @shape ins(%s : tensor<1xi64, #relay.device<cpu:0>>) outs(%t : tensor<2xi64, #relay.device<cpu:0>>) {is_input = array<i64: 0>} -> tensor<2xi64, #relay.device<cpu:0>>
  func.return %r : tensor<2xi64, #relay.device<cpu:0>>
}
relay.shape_func @shape(%s: tensor<1xi64>) -> tensor<2xi64> {
  %zero = arith.constant 0 : index
  %n = tensor.extract %s[%zero] : tensor<1xi64>
  %three = arith.constant 3 : i64
  relay.require at_most %n, %three, "{0} is more than {1}"
  %dims = tensor.from_elements %n, %three : tensor<2xi64>
  relay.yield %dims : tensor<2xi64>
}

// -----

// A result that is an argument is moved, as either may be killed alone.
//
// CHECK-LABEL: bytecode.func @moved
// CHECK-NEXT:    bytecode.shape_of r1, r0
// CHECK-NEXT:    bytecode.move r2, r1
// CHECK-NEXT:    bytecode.kill_register r2
// CHECK-NEXT:    bytecode.ret r1
func.func @moved(%x: tensor<?xf32, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>> {
  %s = vm.shape_of %x : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>>
  %m = memory.alloc_storage 8 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %m[0] : tensor<1xi64, #relay.device<cpu:0>>
  %r = vm.shape_func @same ins(%s : tensor<1xi64, #relay.device<cpu:0>>) outs(%t : tensor<1xi64, #relay.device<cpu:0>>) {is_input = array<i64: 0>} -> tensor<1xi64, #relay.device<cpu:0>>
  memory.kill %r : tensor<1xi64, #relay.device<cpu:0>>
  func.return %s : tensor<1xi64, #relay.device<cpu:0>>
}
relay.shape_func @same(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}

// -----

// A float that a measure reads is a constant of the program.
//
// CHECK:       bytecode.constant @const_0 dense<1.500000e+00> : tensor<f64>
// CHECK-LABEL: bytecode.func @scaled
// CHECK:         bytecode.load_const r[[F:[0-9]+]], @const_0 on #cpu0
// CHECK-NEXT:    bytecode.compute r{{[0-9]+}}, "rounded_product"(r{{[0-9]+}}, r[[F]])
func.func @scaled(%x: tensor<1xi64, #relay.device<cpu:0>>) {
  %zero = arith.constant 0 : index
  %n = tensor.extract %x[%zero] : tensor<1xi64, #relay.device<cpu:0>>
  %f = arith.constant 1.5 : f64
  %m = relay.measure "rounded_product"(%n, %f) : (i64, f64) -> i64
  func.return
}

// -----

// A result's dims have the names of those that they equal.
//
// CHECK: bytecode.func @returned ("x" : tensor<?x4xf32, #cpu0> dims ["n", ""], "y" : tensor<4xf32, #cpu0>) -> ("output_0" : tensor<?x4xf32, #cpu0> dims ["n", ""], "output_1" : tensor<4xf32, #cpu0>)
func.func @returned(%x: tensor<?x4xf32, #relay.device<cpu:0>> {relay.dims = ["n", 4]}, %y: tensor<4xf32, #relay.device<cpu:0>>) -> (tensor<?x4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>) {
  func.return %x, %y : tensor<?x4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>
}

// -----

// Names of dims are kept, and arguments that a kernel reads as sizes may be on the host.
//
// CHECK: bytecode.func @named ("x" : tensor<?x4xf32, #cpu0> dims ["n", ""], "y" : tensor<f32, #cpu0>)
func.func @named(%x: tensor<?x4xf32, #relay.device<cpu:0>> {relay.dims = ["n", 4]}, %y: tensor<f32, #relay.device<cpu:0>>) {
  func.return
}
// CHECK: bytecode.kernel @reshaped (tensor<?xf32>, tensor<2xi64>) host [1] -> [3] {
relay.prim_func @reshaped(%x: tensor<?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = relay.dyn.reshape %x, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.exp %0 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  relay.yield %1 : tensor<?x?xf32>
}
// CHECK: bytecode.kernel @also_data (tensor<?xi64>) -> [1] {
relay.prim_func @also_data(%x: tensor<?xi64>) -> tensor<?xi64> {
  %0 = relay.abs %x : (tensor<?xi64>) -> tensor<?xi64>
  relay.yield %0 : tensor<?xi64>
}

// -----

// Rows are a view: no kernel runs.
//
// CHECK-LABEL: bytecode.func @rows
// CHECK:         bytecode.compute r3, "extract"(r1, r2)
// CHECK-NEXT:    bytecode.slice_tensor r4, r0[2] axis 0 to [3, 4]
// CHECK-NEXT:    bytecode.slice_tensor r5, r0[r3] axis 0 to r1
func.func @rows(%x: tensor<8x4xf32, #relay.device<cpu:0>>, %s: tensor<2xi64, #relay.device<cpu:0>>) -> (tensor<3x4xf32, #relay.device<cpu:0>>, tensor<?x4xf32, #relay.device<cpu:0>>) {
  %zero = arith.constant 0 : index
  %n = tensor.extract %s[%zero] : tensor<2xi64, #relay.device<cpu:0>>
  %a = vm.slice_tensor %x[2] : (tensor<8x4xf32, #relay.device<cpu:0>>) -> tensor<3x4xf32, #relay.device<cpu:0>>
  %b = vm.slice_tensor %x[%n] shape %s : (tensor<8x4xf32, #relay.device<cpu:0>>, tensor<2xi64, #relay.device<cpu:0>>) -> tensor<?x4xf32, #relay.device<cpu:0>>
  func.return %a, %b : tensor<3x4xf32, #relay.device<cpu:0>>, tensor<?x4xf32, #relay.device<cpu:0>>
}
