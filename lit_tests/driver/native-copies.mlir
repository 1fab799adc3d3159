// RUN: xrelay-opt %s -p aot -t 'object{cache=off}' --save-temps %t -o %t.o
// RUN: filecheck %s --input-file %t/kernels_0.1.llvm.mlir

// A concatenation copies its operands whole rows at a time, not in loops over elements, which LLVM
// would unroll.
//
// CHECK-LABEL: llvm.func weak_odr @xk_
// CHECK-NOT:     llvm.load
// CHECK:         llvm.intr.memcpy
// CHECK-NOT:     llvm.load
// CHECK:         llvm.return
func.func @main(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<8x64xf32> {
  %0 = relay.concatenate %x, %y {axis = 0} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<8x64xf32>
  func.return %0 : tensor<8x64xf32>
}
