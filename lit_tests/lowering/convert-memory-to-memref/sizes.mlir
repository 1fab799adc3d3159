// RUN: xrelay-opt --split-input-file -p 'convert-memory-to-memref,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// A shape that a kernel reads is stored into a buffer on the stack.
//
// CHECK-LABEL: @stored_shape
// CHECK:         %[[D:.*]] = memref.dim %x, %c0
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK-NEXT:    %[[S:.*]] = memref.alloca() : memref<2xi64>
// CHECK-NEXT:    memref.store %[[N]], %[[S]][%c0]
// CHECK-NEXT:    memref.store %c4, %[[S]][%c1]
// CHECK:         func.call @k(%x, %[[S]], %{{.*}})
func.func @stored_shape(%x: tensor<?x4xf32>, %w: !memory.storage) {
  %s = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %t = memory.alloc_tensor %w[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @k ins(%x, %s : tensor<?x4xf32>, tensor<2xi64>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @k(%a: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<4xf32> {
  %b = relay.sum %a {axis = array<i64: 0>} : (tensor<?x4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// A shape function becomes a function that stores its results.
//
// CHECK-LABEL: @shape_function
// CHECK:         func.call @twice(%s, %[[OUT:.*]]) : (memref<1xi64>, memref<1xi64>) -> ()
// CHECK:         memref.load %[[OUT]][%c0{{.*}}]
// CHECK:       func.func private @twice(%a: memref<1xi64>, %[[R:[0-9]+]]: memref<1xi64>) {
// CHECK:         %[[N:.*]] = memref.load %a[%{{.*}}] : memref<1xi64>
// CHECK:         %[[M:.*]] = func.call @xrelay.addi(%[[N]], %[[N]])
// CHECK-NEXT:    memref.store %[[M]], %[[R]][%{{.*}}] : memref<1xi64>
func.func @shape_function(%s: tensor<1xi64>, %w: !memory.storage, %h: !memory.storage) {
  %t = memory.alloc_tensor %h[0] : tensor<1xi64>
  %r = vm.shape_func @twice ins(%s : tensor<1xi64>) outs(%t : tensor<1xi64>) {is_input = array<i64: 0>} -> tensor<1xi64>
  %u = memory.alloc_tensor %w[0] shape %r : tensor<1xi64> -> tensor<?xf32>
  %y = vm.invoke_tvm_op @k outs(%u : tensor<?xf32>) -> tensor<?xf32>
  func.return
}
relay.prim_func @k() -> tensor<?xf32> {
  %c2 = arith.constant 2 : index
  %b = tensor.empty(%c2) : tensor<?xf32>
  relay.yield %b : tensor<?xf32>
}
relay.shape_func @twice(%a: tensor<1xi64>) -> tensor<1xi64> {
  %i = arith.constant 0 : index
  %n = tensor.extract %a[%i] : tensor<1xi64>
  %m = arith.addi %n, %n : i64
  %s = tensor.from_elements %m : tensor<1xi64>
  relay.yield %s : tensor<1xi64>
}

// -----

// A requirement that is not met stops the program; two of its numbers are shown, and constants.
//
// CHECK:       builtin.module attributes {xrelay.messages = ["add: {0} and 8 of {1}"]}
// CHECK-LABEL: @requirement
// CHECK:         %[[OK:.*]] = arith.cmpi eq, %n, %c8 : i64
// CHECK-NEXT:    func.call @xrelay_require(%[[OK]], %c0, %n, %m) : (i1, i64, i64, i64) -> ()
func.func @requirement(%n: i64, %m: i64) {
  %c8 = arith.constant 8 : i64
  relay.require eq %n, %c8, "add: {0} and {1} of {2}"(%m)
  func.return
}

// -----

// A requirement on constants that is met is removed.
//
// CHECK-LABEL: @met
// CHECK-NOT:     xrelay_require
func.func @met() {
  %c8 = arith.constant 8 : i64
  %c4 = arith.constant 4 : i64
  relay.require divisible %c8, %c4, "{0} and {1}"
  func.return
}

// -----

// Nothing is divided by 0, and the requirement fails.
//
// CHECK-LABEL: @divisible
// CHECK:         %[[POSITIVE:.*]] = arith.cmpi sgt, %m,
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-NEXT:    %[[DIVISOR:.*]] = arith.select %[[POSITIVE]], %m, %[[ONE]] : i64
// CHECK-NEXT:    %[[REST:.*]] = arith.remsi %n, %[[DIVISOR]] : i64
// CHECK:         %[[EXACT:.*]] = arith.cmpi eq, %[[REST]],
// CHECK-NEXT:    arith.andi %[[POSITIVE]], %[[EXACT]] : i1
func.func @divisible(%n: i64, %m: i64) {
  relay.require divisible %n, %m, "{0} and {1}"
  func.return
}
