// RUN: xrelay-opt --split-input-file -p simplify-shapes %s | filecheck %s

// Sums with 0 and products with 1 are their other operand.
//
// CHECK-LABEL: @units
// CHECK:         %[[N:.*]] = tensor.extract
// CHECK-NEXT:    "test.op"(%[[N]], %[[N]])
func.func @units(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = arith.addi %n, %zero : i64
  %b = arith.muli %a, %one : i64
  "test.op"(%a, %b) : (i64, i64) -> ()
  func.return
}

// -----

// Arithmetic on constants is a constant.
//
// CHECK-LABEL: @constants
// CHECK:         %[[C:.*]] = arith.constant 7 : i64
// CHECK-NEXT:    "test.op"(%[[C]])
func.func @constants() {
  %a = arith.constant 2 : i64
  %b = arith.constant 3 : i64
  %c = arith.muli %a, %b : i64
  %d = arith.constant 1 : i64
  %e = arith.addi %c, %d : i64
  "test.op"(%e) : (i64) -> ()
  func.return
}

// -----

// Constants are gathered: (n + 1) + 2 is n + 3, and (n * 2) * 3 is n * 6.
//
// CHECK-LABEL: @gathered_constants
// CHECK:         %[[N:.*]] = tensor.extract
// CHECK:         %[[C3:.*]] = arith.constant 3 : i64
// CHECK:         %[[C6:.*]] = arith.constant 6 : i64
// CHECK-NEXT:    %[[A:.*]] = arith.addi %[[N]], %[[C3]] : i64
// CHECK-NEXT:    %[[B:.*]] = arith.muli %[[N]], %[[C6]] : i64
// CHECK-NEXT:    "test.op"(%[[A]], %[[B]])
func.func @gathered_constants(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %a = arith.addi %n, %c1 : i64
  %b = arith.addi %a, %c2 : i64
  %c = arith.muli %n, %c2 : i64
  %d = arith.muli %c, %c3 : i64
  "test.op"(%b, %d) : (i64, i64) -> ()
  func.return
}

// -----

// What was added is taken away again, and what was multiplied divided.
//
// CHECK-LABEL: @undone
// CHECK:         %[[N:.*]] = tensor.extract %x_shape[
// CHECK-NEXT:    "test.op"(%[[N]], %[[N]])
func.func @undone(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %t = vm.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %m = tensor.extract %t[%i] : tensor<1xi64>
  %a = arith.addi %n, %m : i64
  %b = arith.subi %a, %m : i64
  %c = arith.muli %n, %m : i64
  %d = arith.floordivsi %c, %m : i64
  "test.op"(%b, %d) : (i64, i64) -> ()
  func.return
}

// -----

// A division without an exact quotient stays, and is shared.
//
// CHECK-LABEL: @inexact_division
// CHECK:         %[[Q:.*]] = arith.floordivsi
// CHECK-NEXT:    "test.op"(%[[Q]], %[[Q]])
func.func @inexact_division(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %c2 = arith.constant 2 : i64
  %a = arith.floordivsi %n, %c2 : i64
  %b = arith.divsi %n, %c2 : i64
  "test.op"(%a, %b) : (i64, i64) -> ()
  func.return
}

// -----

// The maximum of equal sizes is that size; n + 1 is greater than n; a dim is at least 0.
//
// CHECK-LABEL: @extrema
// CHECK:         %[[N:.*]] = tensor.extract
// CHECK:         %[[M:.*]] = arith.addi %[[N]]
// CHECK-NEXT:    "test.op"(%[[N]], %[[M]], %[[N]])
func.func @extrema(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %m = arith.addi %n, %c1 : i64
  %a = arith.minsi %n, %n : i64
  %b = arith.maxsi %n, %m : i64
  %c = arith.maxsi %c0, %n : i64
  "test.op"(%a, %b, %c) : (i64, i64, i64) -> ()
  func.return
}

// -----

// Sizes are equal whatever the order of their operands: n * m is m * n.
//
// CHECK-LABEL: @commuted
// CHECK:         %[[A:.*]] = arith.muli
// CHECK-NEXT:    "test.op"(%[[A]], %[[A]])
func.func @commuted(%x: tensor<?x?xf32>) {
  %s = vm.shape_of %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  %n = tensor.extract %s[%i] : tensor<2xi64>
  %m = tensor.extract %s[%j] : tensor<2xi64>
  %a = arith.muli %n, %m : i64
  %b = arith.muli %m, %n : i64
  "test.op"(%a, %b) : (i64, i64) -> ()
  func.return
}

// -----

// A broadcast with a dim of 1 is the other dim; equal broadcasts are shared.
//
// CHECK-LABEL: @broadcasts
// CHECK:         %[[N:.*]] = tensor.extract %x_shape
// CHECK:         %[[B:.*]] = arith.select
// CHECK-NEXT:    "test.op"(%[[N]], %[[B]], %[[B]])
func.func @broadcasts(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %t = vm.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %m = tensor.extract %t[%i] : tensor<1xi64>
  %one = arith.constant 1 : i64
  %is_one = arith.cmpi eq, %one, %one : i64
  %a = arith.select %is_one, %n, %one : i64
  %n_is_one = arith.cmpi eq, %n, %one : i64
  %b = arith.select %n_is_one, %m, %n : i64
  %c = arith.select %n_is_one, %m, %n : i64
  "test.op"(%a, %b, %c) : (i64, i64, i64) -> ()
  func.return
}

// -----

// Equal measures are shared.
//
// CHECK-LABEL: @measures
// CHECK:         %[[A:.*]] = relay.measure "slice_length"
// CHECK-NOT:     relay.measure
// CHECK:         "test.op"(%[[A]], %[[A]])
func.func @measures(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %m = tensor.extract %s[%i] : tensor<1xi64>
  %b = arith.constant 1 : i64
  %e = arith.constant -1 : i64
  %two = arith.constant 2 : i64
  %p = relay.measure "slice_length"(%n, %b, %e, %two) : (i64, i64, i64, i64) -> i64
  %q = relay.measure "slice_length"(%m, %b, %e, %two) : (i64, i64, i64, i64) -> i64
  "test.op"(%p, %q) : (i64, i64) -> ()
  func.return
}

// -----

// A measure that is arithmetic becomes that: the length of [1:] of n + 1 elements is n.
//
// CHECK-LABEL: @arithmetic_measure
// CHECK:         %[[N:.*]] = tensor.extract
// CHECK-NEXT:    "test.op"(%[[N]], %[[N]])
func.func @arithmetic_measure(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %one = arith.constant 1 : i64
  %m = arith.addi %n, %one : i64
  %end = arith.constant 9223372036854775807 : i64
  %p = relay.measure "slice_length"(%m, %one, %end, %one) : (i64, i64, i64, i64) -> i64
  %zero = arith.constant 0 : i64
  %inferred = arith.constant -1 : i64
  %six = arith.constant 6 : i64
  %n6 = arith.muli %n, %six : i64
  %q = relay.measure "reshaped_dim"(%zero, %zero, %one, %n6, %inferred, %six) : (i64, i64, i64, i64, i64, i64) -> i64
  "test.op"(%p, %q) : (i64, i64) -> ()
  func.return
}

// -----

// A measure whose check may fail is kept.
//
// CHECK-LABEL: @checked_measure
// CHECK:         relay.measure "reshaped_dim"
func.func @checked_measure(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %inferred = arith.constant -1 : i64
  %six = arith.constant 6 : i64
  %q = relay.measure "reshaped_dim"(%zero, %zero, %one, %n, %inferred, %six) : (i64, i64, i64, i64, i64, i64) -> i64
  "test.op"(%q) : (i64) -> ()
  func.return
}

// -----

// A broadcast with a dim that is 1 wherever the first is, such as min(n, 64), is the first.
//
// CHECK-LABEL: @broadcast_with_minimum
// CHECK:         %[[N:.*]] = tensor.extract
// CHECK-NEXT:    "test.op"(%[[N]])
func.func @broadcast_with_minimum(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %c64 = arith.constant 64 : i64
  %m = arith.minsi %n, %c64 : i64
  %one = arith.constant 1 : i64
  %is_one = arith.cmpi eq, %n, %one : i64
  %b = arith.select %is_one, %m, %n : i64
  "test.op"(%b) : (i64) -> ()
  func.return
}

// -----

// A constant size is part of the storage.
//
// CHECK-LABEL: @constant_size
// CHECK:         memory.alloc_storage 24 align 64
func.func @constant_size() {
  %a = arith.constant 6 : i64
  %b = arith.constant 4 : i64
  %c = arith.muli %a, %b : i64
  %s = memory.alloc_storage %c align 64 : !memory.storage
  "test.op"(%s) : (!memory.storage) -> ()
  func.return
}
