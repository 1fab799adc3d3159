// RUN: xrelay-opt %s -p aot -t 'object{cache=off}' --save-temps %t -o %t.o
// RUN: filecheck %s --input-file %t/kernels_0.1.llvm.mlir

// A kernel becomes loops in LLVM's dialect: what it computes in between is on the stack, where each
// buffer is made once, not in a loop; it allocates no other memory.
//
// CHECK-LABEL: llvm.func weak_odr @xk_
// CHECK-NOT:     llvm.br
// CHECK:         llvm.alloca
// CHECK-NOT:     _mlir_memref_to_llvm_alloc
// CHECK-NOT:     linalg.
// CHECK:         llvm.return
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = relay.nn.softmax %x : (tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %0 : tensor<4x64xf32>
}
