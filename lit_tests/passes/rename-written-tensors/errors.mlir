// RUN: xrelay-opt --disable-verify --verify-diagnostics --split-input-file -p rename-written-tensors %s

// A tensor has no contents before a kernel has written it.
func.func @read_before(%s: !memory.storage) -> tensor<4xf32> {
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  // expected-error@+1 {{%t is used before a kernel has written it}}
  %z = relay.exp %t : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

// Nor after its kill.
func.func @read_after(%s: !memory.storage, %x: tensor<4xf32>) -> tensor<4xf32> {
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{killed here}}
  memory.kill %t : tensor<4xf32>
  // expected-error@+1 {{%t is used after its memory.kill}}
  %z = relay.exp %t : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
relay.prim_func @neg(%p: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative %p : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %n : tensor<4xf32>
}

// -----

// One name cannot mean two contents.
func.func @written_twice(%s: !memory.storage, %x: tensor<4xf32>) -> tensor<4xf32> {
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  // expected-note@+1 {{first written here}}
  %y = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{%t is written twice}}
  %z = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
relay.prim_func @neg(%p: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative %p : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %n : tensor<4xf32>
}
