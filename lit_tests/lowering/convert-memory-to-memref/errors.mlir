// RUN: xrelay-opt --split-input-file --verify-diagnostics -p convert-memory-to-memref %s

func.func @closure(%x: tensor<4xf32>) {
  // expected-error @+1 {{relay.global is run by the machine only (xrelay-opt -p vm, xrelay-run): native code has no closures, data types, references or generic functions}}
  %f = relay.global @closure : (tensor<4xf32>) -> ()
  func.return
}

// -----

// expected-error @+1 {{values of type !relay.ref<tensor<4xf32>> have no memory layout: only the machine runs programs with closures, data types or references (xrelay-opt -p vm, xrelay-run)}}
func.func @reference(%x: !relay.ref<tensor<4xf32>>) {
  func.return
}

// -----

// expected-error @+1 {{a value of type tuple<tensor<4xf32>> has no memory layout: run flatten-tuples first}}
func.func @tuple(%x: tuple<tensor<4xf32>>) {
  func.return
}

// -----

func.func @measure(%n: i64, %k: i64) {
  // expected-error @+1 {{argument 0 of the size "expanded_dim" must be a constant}}
  %m = relay.measure "expanded_dim"(%k, %n, %k, %n) : (i64, i64, i64, i64) -> i64
  func.return
}

// -----

func.func @rows_of_dynamic_number(%x: tensor<?x4xf32>, %s: tensor<2xi64>) {
  // expected-error @+1 {{rows of dynamic number, or from a dynamic start on, have no memref}}
  %v = vm.slice_tensor %x[2] shape %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  func.return
}

// -----

// Tensors that an op of another dialect makes have no buffers.
func.func @foreign() {
  // expected-error@+1 {{test.op has no form on memrefs}}
  %a = "test.op"() : () -> tensor<4xf32>
  %b = vm.reshape_tensor %a : (tensor<4xf32>) -> tensor<2x2xf32>
  func.return
}
