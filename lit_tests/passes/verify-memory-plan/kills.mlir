// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// Bytes are killed after their last use, under any of their names.

func.func @fine(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%a) : (tensor<16xf32>) -> ()
  memory.kill %a : tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  memory.kill %u : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A killed value is not used.

func.func @used(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{they are killed here}}
  memory.kill %a : tensor<16xf32>
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A kill ends all names of the bytes.

func.func @view(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %v = vm.reshape_tensor %a : (tensor<16xf32>) -> tensor<4x4xf32>
  // expected-note@+1 {{they are killed here}}
  memory.kill %v : tensor<4x4xf32>
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Bytes are killed once on a path.

func.func @twice(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{they are killed here before}}
  memory.kill %a : tensor<16xf32>
  // expected-error@+1 {{the bytes are killed twice}}
  memory.kill %t : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A kill must not end the bytes of the next tensor.

func.func @late(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes }}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is killed here}}
  memory.kill %a : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Nor may that of a tensor which was not written.

func.func @unwritten(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{they are killed here}}
  memory.kill %u : tensor<16xf32>
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A killed tensor is not written.

func.func @written(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{they are killed here}}
  memory.kill %t : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op uses bytes that are killed before it}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
