// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// A kernel that reads each element before it writes it may write over its operand.

func.func @accepted(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  %b = vm.invoke_tvm_op @g ins(%a : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  %y = relay.negative %z : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// What it has overwritten is not used after it.

func.func @used_later(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b = vm.invoke_tvm_op @g ins(%a : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  %y = relay.negative %z : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Other bytes of the storage are another matter.

func.func @shifted(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 192 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[64] : tensor<16xf32>
  %b = vm.invoke_tvm_op @g ins(%a : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  %y = relay.negative %z : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A kernel that reads elements elsewhere may not.

func.func @reversed(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op reads bytes that it writes: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b = vm.invoke_tvm_op @g ins(%a : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.reverse %x {axis = 0} : (tensor<16xf32>) -> tensor<16xf32>
  %y = relay.negative %z : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A kernel in which another operator reads the operand may not.

func.func @sum_read_later(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op reads bytes that it writes: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b = vm.invoke_tvm_op @g ins(%a : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.sum %x : (tensor<16xf32>) -> tensor<f32>
  %y = relay.add %x, %z : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A value that is computed apart may be in the memory of the result before the operand is read.

func.func @apart(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op reads bytes that it writes: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b = vm.invoke_tvm_op @g ins(%x, %a : tensor<16xf32>, tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>, %r: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.nn.softmax %x : (tensor<16xf32>) -> tensor<16xf32>
  %y = relay.add %z, %r : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// All operands that name the bytes must be read elementwise.

func.func @twice(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op reads bytes that it writes: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b = vm.invoke_tvm_op @g ins(%a, %a : tensor<16xf32>, tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>, %r: tensor<16xf32>) -> tensor<16xf32> {
  %z = relay.reverse %r {axis = 0} : (tensor<16xf32>) -> tensor<16xf32>
  %y = relay.add %x, %z : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Bytes that only overlap are not the same.

func.func @partly(%x: tensor<32xf32>) {
  %s = memory.alloc_storage 192 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<32xf32>
  // expected-note@+1 {{bytes [0, 128) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<32xf32>) outs(%t : tensor<32xf32>) -> tensor<32xf32>
  %u = memory.alloc_tensor %s[64] : tensor<32xf32>
  // expected-error@+1 {{vm.invoke_tvm_op reads bytes that it writes: bytes [64, 192) and [0, 128) of one storage overlap}}
  %b = vm.invoke_tvm_op @g ins(%a : tensor<32xf32>) outs(%u : tensor<32xf32>) -> tensor<32xf32>
  "test.op"(%b) : (tensor<32xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = relay.exp %x : (tensor<32xf32>) -> tensor<32xf32>
  relay.yield %y : tensor<32xf32>
}
relay.prim_func @g(%x: tensor<32xf32>) -> tensor<32xf32> {
  %z = relay.exp %x : (tensor<32xf32>) -> tensor<32xf32>
  %y = relay.negative %z : (tensor<32xf32>) -> tensor<32xf32>
  relay.yield %y : tensor<32xf32>
}

// -----

// A kernel must not write over rows of what it reads: its elements are at other places.

func.func @rows(%x: tensor<16x4xf32>) {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16x4xf32>
  // expected-note@+1 {{bytes [0, 256) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16x4xf32>) outs(%t : tensor<16x4xf32>) -> tensor<16x4xf32>
  %v = vm.slice_tensor %a[4] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %u = memory.alloc_tensor %s[0] : tensor<8x4xf32>
  // expected-error@+1 {{vm.invoke_tvm_op reads bytes that it writes: bytes [0, 128) and [0, 256) of one storage overlap}}
  %b = vm.invoke_tvm_op @g ins(%v : tensor<8x4xf32>) outs(%u : tensor<8x4xf32>) -> tensor<8x4xf32>
  "test.op"(%b) : (tensor<8x4xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %y = relay.exp %x : (tensor<16x4xf32>) -> tensor<16x4xf32>
  relay.yield %y : tensor<16x4xf32>
}
relay.prim_func @g(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = relay.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  relay.yield %y : tensor<8x4xf32>
}

// -----

// Rows are bytes of their tensor: they are live as long as either is used.

func.func @live_rows(%x: tensor<16x4xf32>) {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16x4xf32>
  // expected-note@+1 {{bytes [0, 256) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16x4xf32>) outs(%t : tensor<16x4xf32>) -> tensor<16x4xf32>
  %v = vm.slice_tensor %a[4] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16x4xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes [0, 256) and [0, 256) of one storage overlap}}
  %b = vm.invoke_tvm_op @f ins(%a : tensor<16x4xf32>) outs(%u : tensor<16x4xf32>) -> tensor<16x4xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%v) : (tensor<8x4xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %y = relay.exp %x : (tensor<16x4xf32>) -> tensor<16x4xf32>
  relay.yield %y : tensor<16x4xf32>
}

// -----

// Nor over a tensor of which it reads rows, too.

func.func @tensor_and_rows(%x: tensor<8x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<8x4xf32>
  // expected-note@+1 {{bytes [0, 128) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<8x4xf32>) outs(%t : tensor<8x4xf32>) -> tensor<8x4xf32>
  %v = vm.slice_tensor %a[0] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %u = memory.alloc_tensor %s[0] : tensor<8x4xf32>
  // expected-error@+1 {{vm.invoke_tvm_op reads bytes that it writes: bytes [0, 128) and [0, 128) of one storage overlap}}
  %b = vm.invoke_tvm_op @add ins(%a, %v : tensor<8x4xf32>, tensor<1x4xf32>) outs(%u : tensor<8x4xf32>) -> tensor<8x4xf32>
  "test.op"(%b) : (tensor<8x4xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = relay.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  relay.yield %y : tensor<8x4xf32>
}
relay.prim_func @add(%x: tensor<8x4xf32>, %y: tensor<1x4xf32>) -> tensor<8x4xf32> {
  %z = relay.add %x, %y : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  relay.yield %z : tensor<8x4xf32>
}
