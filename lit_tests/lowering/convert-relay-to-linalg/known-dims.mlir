// RUN: xrelay-opt --split-input-file -p convert-relay-to-linalg %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-relay-to-linalg,convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// Dims of one name, and those that are computed from them, are one loop.
//
// CHECK-LABEL: relay.prim_func @add(
// CHECK-NOT:     tensor.extract
// CHECK:         linalg.generic {{.*}} ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK-NOT:     tensor.extract
relay.prim_func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = relay.add %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  relay.yield %c : tensor<?x4xf32>
}
func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]}, %y: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]}, %s: !memory.storage) {
  %n = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %t = memory.alloc_tensor %s[0] shape %n : tensor<2xi64> -> tensor<?x4xf32>
  %u = memory.alloc_tensor %s[0] shape %n : tensor<2xi64> -> tensor<?x4xf32>
  %z = vm.invoke_tvm_op @add ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf32>) outs(%t : tensor<?x4xf32>) -> tensor<?x4xf32>
  %v = vm.invoke_tvm_op @add ins(%y, %z : tensor<?x4xf32>, tensor<?x4xf32>) outs(%u : tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return
}

// -----

// In one of the calls an operand may be broadcast.
//
// CHECK-LABEL: relay.prim_func @add(
// CHECK:         tensor.extract
relay.prim_func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = relay.add %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  relay.yield %c : tensor<?x4xf32>
}
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %s: !memory.storage) {
  %n = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %t = memory.alloc_tensor %s[0] shape %n : tensor<2xi64> -> tensor<?x4xf32>
  %u = memory.alloc_tensor %s[0] shape %n : tensor<2xi64> -> tensor<?x4xf32>
  %z = vm.invoke_tvm_op @add ins(%x, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%t : tensor<?x4xf32>) -> tensor<?x4xf32>
  %v = vm.invoke_tvm_op @add ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf32>) outs(%u : tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return
}

// -----

// What is required before the call holds in it; what a branch requires does not hold after it.
//
// CHECK-LABEL: relay.prim_func @add(
// CHECK-NOT:     tensor.extract
// CHECK-LABEL: relay.prim_func @subtract(
// CHECK:         tensor.extract
relay.prim_func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = relay.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.yield %c : tensor<?xf32>
}
relay.prim_func @subtract(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = relay.subtract %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.yield %c : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: tensor<i1>, %s: !memory.storage) {
  %c0 = arith.constant 0 : index
  %xs = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %xs[%c0] : tensor<1xi64>
  %ys = vm.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %m = tensor.extract %ys[%c0] : tensor<1xi64>
  %t = memory.alloc_tensor %s[0] shape %xs : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[0] shape %xs : tensor<1xi64> -> tensor<?xf32>
  relay.if %c : tensor<i1> {
    relay.require eq %n, %m, "{0}, but {1}"
    %z = vm.invoke_tvm_op @add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
    relay.yield
  } else {
    relay.yield
  }
  %v = vm.invoke_tvm_op @subtract ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  func.return
}
