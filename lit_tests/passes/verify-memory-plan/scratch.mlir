// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// Scratch memory of a kernel may be at bytes that are dead while it runs.

func.func @of_dead_bytes(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 192 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %m = memory.alloc_tensor %s[64] : tensor<16xf32>
  %a, %0 = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t, %m : tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>, tensor<16xf32>
  memory.kill %0 : tensor<16xf32>
  %u = memory.alloc_tensor %s[64] : tensor<16xf32>
  %n = memory.alloc_tensor %s[128] : tensor<16xf32>
  %b, %1 = vm.invoke_tvm_op @f ins(%a : tensor<16xf32>) outs(%u, %n : tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>, tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  %s = relay.scratch : tensor<16xf32>
  relay.yield %y, %s : tensor<16xf32>, tensor<16xf32>
}

// -----

// It may not be where an operand is, even one that dies: the kernel reads it at any time.

func.func @of_an_operand(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @g ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[64] : tensor<16xf32>
  %m = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{bytes [0, 64) and [0, 64) of one storage overlap}}
  %b, %0 = vm.invoke_tvm_op @f ins(%a : tensor<16xf32>) outs(%u, %m : tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>, tensor<16xf32>
  "test.op"(%b) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  %s = relay.scratch : tensor<16xf32>
  relay.yield %y, %s : tensor<16xf32>, tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// It may not be where a tensor is that is read later.

func.func @of_a_live_tensor(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @g ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[64] : tensor<16xf32>
  %m = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b, %0 = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u, %m : tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>, tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  %s = relay.scratch : tensor<16xf32>
  relay.yield %y, %s : tensor<16xf32>, tensor<16xf32>
}
relay.prim_func @g(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
