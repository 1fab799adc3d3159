// RUN: xrelay-opt -p aot --print-ir-after=pack-weights %s 2>&1 | filecheck %s --check-prefix=FREE
// RUN: xrelay-opt -p 'aot{work=1.0}' --print-ir-after=pack-weights %s 2>&1 | filecheck %s --check-prefix=LIMITED
// RUN: xrelay-opt -p 'aot{pools="cpu:0=1MiB:1"}' --print-ir-after=pack-weights %s 2>&1 | filecheck %s --check-prefix=LIMITED

// The kernels of programs with limits of memory have no scratch memory, which the plan leaves out.
//
// FREE:        relay.nn.conv2d {{.*}}kernel_layout = "OHWI16o/F23"
// LIMITED:     relay.nn.conv2d {{.*}}kernel_layout = "HWIO"
// LIMITED-NOT: OHWI16o/F23
func.func @main(%x: tensor<1x16x10x10xf32>) -> tensor<1x16x8x8xf32> {
  %w = relay.param "w" : tensor<16x16x3x3xf32>
  %y = relay.nn.conv2d %x, %w : (tensor<1x16x10x10xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  func.return %y : tensor<1x16x8x8xf32>
}
