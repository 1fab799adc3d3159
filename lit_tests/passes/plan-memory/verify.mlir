// RUN: xrelay-opt --verify-diagnostics -p plan-memory %s
// RUN: xrelay-opt -p 'plan-memory{verify=false}' %s | filecheck %s

// Memory that is wrong before it is planned is reported, unless the check is switched off.
//
// CHECK-LABEL: func.func @badly_aligned
func.func @badly_aligned(%x: tensor<4xf32>) {
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage 16 align 32 : !memory.storage
  // expected-error@+1 {{a tensor of f32 needs a storage aligned to 64 bytes, but its storage is aligned to 32}}
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%a) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %x : tensor<4xf32>
}
