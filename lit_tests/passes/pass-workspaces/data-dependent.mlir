// RUN: xrelay-opt -p 'pass-workspaces{lend-entries}' %s | filecheck %s

// Callers cannot allocate a result whose size depends on data: the function does.
//
// CHECK-LABEL: @main(%n: tensor<1xi64>) -> (tensor<?xf32> {memory.allocated}) {
// CHECK:         memory.alloc_storage %bytes
func.func @main(%n: tensor<1xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.extract %n[%c0] : tensor<1xi64>
  %c4 = arith.constant 4 : i64
  %bytes = arith.muli %size, %c4 : i64
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %shape = tensor.from_elements %size : tensor<1xi64>
  %t = memory.alloc_tensor %s[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %y = vm.invoke_tvm_op @fill outs(%t : tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// The function of sizes computes the dims of the other results.
//
// CHECK-LABEL: @some(%x: tensor<?xf32>, %n: tensor<1xi64>) -> (tensor<?xf32>, tensor<?xf32> {memory.allocated})
// CHECK-LABEL: @some.sizes(%x_dim0: i64) -> i64
// CHECK-NEXT:    func.return %x_dim0 : i64
func.func @some(%x: tensor<?xf32>, %n: tensor<1xi64>) -> (tensor<?xf32>, tensor<?xf32>) {
  %y = func.call @main(%n) : (tensor<1xi64>) -> tensor<?xf32>
  func.return %x, %y : tensor<?xf32>, tensor<?xf32>
}
relay.prim_func @fill() -> tensor<?xf32> {
  %y = "test.op"() : () -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}
