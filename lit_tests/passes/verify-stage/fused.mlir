// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'verify-stage{stage=fused}' %s

// At `fused` every operator is in a primitive; the rules of `planned` still hold.

func.func @loose(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{relay.exp is left at stage fused: fuse-ops should have put it into a primitive}}
  %y = relay.exp %x : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

func.func @hint(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{relay.on_device is left at stage fused: plan-devices should have}}
  %y = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

func.func @fine(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %z = relay.primitive(%a = %x : tensor<4xf32, #relay.device<cpu:0>>) -> (tensor<4xf32, #relay.device<cpu:0>>) {
    %0 = relay.exp %a : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<4xf32, #relay.device<cpu:0>>
  }
  func.return
}
