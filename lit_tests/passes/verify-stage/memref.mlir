// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'verify-stage{stage=memref}' %s

// At `memref` only the dialects of upstream MLIR are left.

func.func @fine(%x: memref<4xf32>, %i: index) {
  %0 = memref.load %x[%i] : memref<4xf32>
  %1 = arith.addf %0, %0 : f32
  func.return
}

// -----

func.func @copy(%x: tensor<4xf32, #relay.device<cpu:0>>, %out: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{memory.copy is left at stage memref: only upstream dialects are allowed: convert-memory-to-memref should have replaced it}}
  %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%out : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}
