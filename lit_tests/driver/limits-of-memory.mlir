// RUN: xrelay-opt -p aot --print-ir-after=declare-scratch %s 2>&1 | filecheck %s --check-prefix=FREE
// RUN: xrelay-opt -p 'aot{pools="cpu:0=1MiB:1"}' --print-ir-after=declare-scratch %s 2>&1 | filecheck %s --check-prefix=LIMITED
// RUN: xrelay-opt -p 'aot{peak=1MiB}' --print-ir-after=declare-scratch %s 2>&1 | filecheck %s --check-prefix=LIMITED
// RUN: xrelay-opt -p 'aot{work=1.0}' --print-ir-after=declare-scratch %s 2>&1 | filecheck %s --check-prefix=FEWEST

// Within limits of memory, the scratch memory of a kernel is for one thread, whatever their number.
//
// FREE:           relay.nn.conv2d {{.*}}kernel_layout = "OHWI16o/F23"
// FREE-NEXT:      relay.scratch : tensor<4x4x4x26x16xf32>
// LIMITED:        relay.nn.conv2d {{.*}}kernel_layout = "OHWI16o/F23"
// LIMITED-NEXT:   relay.scratch : tensor<1x4x4x26x16xf32>
//
// A program of the fewest bytes has kernels without scratch memory.
//
// FEWEST:         relay.nn.conv2d {{.*}}kernel_layout = "HWIO"
// FEWEST-NOT:     relay.scratch
func.func @main(%x: tensor<1x16x54x54xf32>) -> tensor<1x16x52x52xf32> {
  %w = relay.param "w" : tensor<16x16x3x3xf32>
  %y = relay.nn.conv2d %x, %w : (tensor<1x16x54x54xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x52x52xf32>
  func.return %y : tensor<1x16x52x52xf32>
}
