// RUN: xrelay-opt %s -p aot -t 'object{cache=off cpu=x86-64-v3}' -o %t.o --print-ir-after-all 2>&1 | filecheck %s

// Targets that compile run the passes of `kernels`, each of which can be seen.
//
// CHECK-LABEL: erase-memory-spaces
// CHECK:       func.func private @fused_nn_dense_nn_relu({{.*}} attributes {xrelay.kernel} {
// CHECK-LABEL: fuse-elementwise
// CHECK-LABEL: transpose-operands
// CHECK:       tensor.empty() : tensor<16x32xf32>
// CHECK-LABEL: choose-schedules
// CHECK:       attributes {xrelay.kernel, xrelay.schedule = [{kind = "register-tile"
func.func @main(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>) -> tensor<8x32xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
  %1 = relay.nn.relu %0 : (tensor<8x32xf32>) -> tensor<8x32xf32>
  func.return %1 : tensor<8x32xf32>
}
