// RUN: xrelay-opt -p report-memory %s -o %t.out 2>&1 | filecheck %s
// RUN: xrelay-opt -p 'report-memory{dims="n=3"}' %s -o %t.out 2>&1 | filecheck %s --check-prefix=KNOWN

// A size that is not known is a formula, and with dims a number.
//
// CHECK:      memory of @main on cpu:0
// CHECK-NEXT:   sum of tensors     4*n    1 tensor
// CHECK-NEXT:   lower bound        4*n
// CHECK-NEXT:   planned            4*n
// CHECK:        largest of the tensors alive at the peak if n = 128:
// CHECK:          y       512 B
//
// KNOWN:      memory of @main on cpu:0, for n = 3
// KNOWN-NEXT:   sum of tensors     4*n = 12 B  12 B  1 tensor
// KNOWN-NEXT:   lower bound        4*n = 12 B  12 B  alive at test_kernel
// KNOWN-NEXT:   planned            4*n = 12 B  12 B  1.000 x the lower bound, 1.000 x the sum
relay.prim_func @test_kernel(%x: tensor<?xf32>) -> tensor<?xf32> {
  relay.yield %x : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32, #relay.device<cpu:0>> {relay.dims = ["n"]}) -> tensor<?xf32, #relay.device<cpu:0>> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %shape = vm.shape_of %x : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>>
  %n = tensor.extract %shape[%c0] : tensor<1xi64, #relay.device<cpu:0>>
  %bytes = arith.muli %n, %c4 : i64
  %s = memory.alloc_storage %bytes align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[0] shape %shape : tensor<1xi64, #relay.device<cpu:0>> -> tensor<?xf32, #relay.device<cpu:0>>
  %y = vm.invoke_tvm_op @test_kernel ins(%x : tensor<?xf32, #relay.device<cpu:0>>) outs(%t : tensor<?xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return %y : tensor<?xf32, #relay.device<cpu:0>>
}
