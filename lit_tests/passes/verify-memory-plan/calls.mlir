// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// A call that returns its argument returns a name of its bytes.

func.func @same_bytes(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %r = func.call @same(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes }}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%r) : (tensor<16xf32>) -> ()
  func.return
}
func.func @same(%v: tensor<16xf32>) -> tensor<16xf32> {
  func.return %v : tensor<16xf32>
}
func.func @new(%v: tensor<16xf32>) -> tensor<16xf32> {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// One that does not returns bytes of its own.

func.func @own_bytes(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %r = func.call @new(%a) : (tensor<16xf32>) -> tensor<16xf32>
  memory.kill %a : tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%r, %b) : (tensor<16xf32>, tensor<16xf32>) -> ()
  func.return
}
func.func @same(%v: tensor<16xf32>) -> tensor<16xf32> {
  func.return %v : tensor<16xf32>
}
func.func @new(%v: tensor<16xf32>) -> tensor<16xf32> {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A function that is not known may return any argument.

func.func @unknown(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %r = func.call @far(%a) : (tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{they are killed here}}
  memory.kill %a : tensor<16xf32>
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%r) : (tensor<16xf32>) -> ()
  func.return
}
func.func private @far(tensor<16xf32>) -> tensor<16xf32>

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A cell is a name of what was written into it.

func.func @cell(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %cell = relay.ref_create %x : (tensor<16xf32>) -> !relay.ref<tensor<16xf32>>
  %u0 = relay.ref_write %cell, %a : (!relay.ref<tensor<16xf32>>, tensor<16xf32>) -> tuple<>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes }}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  %v = relay.ref_read %cell : (!relay.ref<tensor<16xf32>>) -> tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
