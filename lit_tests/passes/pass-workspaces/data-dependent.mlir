// RUN: xrelay-opt -p 'pass-workspaces{lend-entries}' --verify-diagnostics %s

// Callers cannot allocate a result whose size depends on data.
//
// expected-error@+9 {{the size of result 0 of @main does not follow from those of the arguments, so callers cannot allocate it: run the program by the machine (-p vm, or xrelay-run)}}
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
relay.prim_func @fill() -> tensor<?xf32> {
  %y = "test.op"() : () -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}
