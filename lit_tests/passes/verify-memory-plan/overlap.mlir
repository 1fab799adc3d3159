// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// Tensors side by side in one storage are both alive.

func.func @side_by_side(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[64] : tensor<16xf32>
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A write into bytes that are read later is an error, where it writes.

func.func @overlap(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Bytes are reused once nothing reads what was there, killed or not.

func.func @reused(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%a) : (tensor<16xf32>) -> ()
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// One common byte is enough.

func.func @partial(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 192 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<32xf32>
  %w = "test.op"() : () -> tensor<32xf32>
  // expected-note@+1 {{bytes [0, 128) are written here}}
  %a = memory.copy ins(%w : tensor<32xf32>) outs(%t : tensor<32xf32>) -> tensor<32xf32>
  %u = memory.alloc_tensor %s[64] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes [64, 128) and [0, 128) of one storage overlap}}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a) : (tensor<32xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A view is a name of the bytes: reading it reads them.

func.func @view(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %v = vm.reshape_tensor %a : (tensor<16xf32>) -> tensor<4x4xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes }}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%v) : (tensor<4x4xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// So is a tuple.

func.func @tuple(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %p = relay.tuple %a, %x : (tensor<16xf32>, tensor<16xf32>) -> tuple<tensor<16xf32>, tensor<16xf32>>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes }}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%p) : (tuple<tensor<16xf32>, tensor<16xf32>>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// An op that is not elementwise may not read bytes that it writes.

func.func @in_place(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op reads bytes that it writes: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b = vm.invoke_tvm_op @f ins(%a : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.reverse %x {axis = 0} : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// What a function returns is read by its caller.

func.func @returned(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes }}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  func.return %a : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// An op that is given a storage may write all of it.

func.func @passed(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  // expected-error@+1 {{test.op may write bytes of a live tensor: bytes of the whole storage and [0, 64) of one storage overlap}}
  "test.op"(%s) : (!memory.storage) -> ()
  // expected-note@+1 {{it is used here}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A storage that an op returns may be another one.

func.func @unknown_storage(%x: tensor<16xf32>) {
  // expected-error@+1 {{cannot tell which bytes the storage is that test.op returns}}
  %s = "test.op"() : () -> !memory.storage
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
