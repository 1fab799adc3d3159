// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'verify-stage{stage=manifest}' %s
// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'verify-stage{stage=memory-planned}' %s

// From `manifest` on every result has a storage.

func.func @call(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error-re@+1 {{relay.call_lowered is left at stage {{manifest|memory-planned}}: manifest-alloc should have given it storage}}
  %z = relay.call_lowered @f(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

func.func @copy(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error-re@+1 {{relay.device_copy is left at stage {{manifest|memory-planned}}: manifest-alloc should have given it storage}}
  %z = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

func.func @fine(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cpu:0>>
  %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return %y : tensor<4xf32, #relay.device<cpu:0>>
}
