builtin.module attributes {bytecode.devices = [#relay.device<cpu:0>]} {
bytecode.func @main ("x" : tensor<1x1x8x8xf32>, "w" : tensor<1x1x3x3xf32>) registers 4 {
  bytecode.alloc_storage r2, 256 align 64 on #relay.device<cpu:0>
  bytecode.alloc_tensor r3, r2[0] : tensor<1x1x8x8xf32>
  bytecode.invoke_packed @k(r0, r1) -> (r3)
  bytecode.ret r3
}
bytecode.kernel @k (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) -> [2] {
  bytecode.step "relay.nn.conv2d" [0, 1] -> [2] : (tensor<1x1x8x8xf32>) with {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: -900000000, -1>, groups = 1 : i64, data_layout = "NCHW", kernel_layout = "OIHW"}
}
}
