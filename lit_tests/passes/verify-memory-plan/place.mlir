// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// A storage that is aligned more than the element needs is fine.

func.func @aligned(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 256 align 128 : !memory.storage
  %t = memory.alloc_tensor %s[64] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// An offset is a multiple of the alignment of the elements.

func.func @offset(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  // expected-error@+1 {{the offset of a tensor of f32 must be a multiple of 64, but 32 is not}}
  %t = memory.alloc_tensor %s[32] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A storage is aligned as the elements need.

func.func @storage(%x: tensor<16xf32>) {
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage 256 align 32 : !memory.storage
  // expected-error@+1 {{a tensor of f32 needs a storage aligned to 64 bytes, but its storage is aligned to 32}}
  %t = memory.alloc_tensor %s[64] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A tensor whose size is that of its storage fits.

func.func @fits(%n: i64, %x: tensor<?xf32>) {
  %c4 = arith.constant 4 : i64
  %bytes = arith.muli %n, %c4 : i64
  %dims = tensor.from_elements %n : tensor<1xi64>
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%a) : (tensor<?xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// A tensor that may be larger than its storage is an error.

func.func @too_large(%n: i64, %x: tensor<?xf32>) {
  %c2 = arith.constant 2 : i64
  %bytes = arith.muli %n, %c2 : i64
  %dims = tensor.from_elements %n : tensor<1xi64>
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  // expected-error@+1 {{cannot show that a tensor at bytes [0, 4*n) fits in its storage of 2*n bytes}}
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%a) : (tensor<?xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// A view of another shape of as many elements stays in its tensor.

func.func @view(%x: tensor<16xf32>) {
  %v = vm.reshape_tensor %x : (tensor<16xf32>) -> tensor<2x8xf32>
  "test.op"(%v) : (tensor<2x8xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A view that is certainly larger than its tensor is an error.

func.func @large_view(%n: i64, %x: tensor<?xf32>) {
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %bytes = arith.muli %n, %c4 : i64
  %more = arith.addi %n, %c1 : i64
  %dims = tensor.from_elements %n : tensor<1xi64>
  %dims2 = tensor.from_elements %more : tensor<1xi64>
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-note@+1 {{the tensor is defined here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{a view of 4*n + 4 bytes is larger than its tensor of 4*n bytes}}
  %v = vm.reshape_tensor %a shape %dims2 : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}
