// RUN: xrelay-opt --split-input-file -p report-memory %s -o %t.out 2>&1 | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'report-memory{dims="n=10"}' %s -o %t.out 2>&1 | filecheck %s --check-prefix=SMALL
// RUN: xrelay-opt --split-input-file -p 'report-memory{dims="n=200"}' %s -o %t.out 2>&1 | filecheck %s --check-prefix=LARGE

// A size that is selected by a comparison of sizes depends on dims alone, as when a plan keeps
// several orders. Of this offset and this size, below 400 bytes, the first ones are taken.
//
// CHECK:      memory of @main on cpu:0
// CHECK:        planned = 512 B if n = 128: (16*n + 64 if 4*n < 400 else 4*n)
// CHECK:        largest of the tensors alive at the peak if n = 128:
// CHECK:          y       512 B  512 B    s[0]
// SMALL:      memory of @main on cpu:0, for n = 10
// SMALL:        planned {{ +}}224 B
// SMALL:        largest of the tensors alive at the peak:
// SMALL:          y        40 B  40 B  s[64]
// LARGE:      memory of @main on cpu:0, for n = 200
// LARGE:        planned {{ +}}800 B
// LARGE:        largest of the tensors alive at the peak:
// LARGE:          y       800 B  800 B   s[0]
relay.prim_func @test_kernel(%x: tensor<?xf32>) -> tensor<?xf32> {
  relay.yield %x : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32, #relay.device<cpu:0>> {relay.dims = ["n"]}) -> tensor<?xf32, #relay.device<cpu:0>> {
  %c0 = arith.constant 0 : index
  %c0_i64 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %c64 = arith.constant 64 : i64
  %c400 = arith.constant 400 : i64
  %shape = vm.shape_of %x : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>>
  %n = tensor.extract %shape[%c0] : tensor<1xi64, #relay.device<cpu:0>>
  %bytes = arith.muli %n, %c4 : i64
  %much = arith.muli %bytes, %c4 : i64
  %more = arith.addi %much, %c64 : i64
  %few = arith.cmpi slt, %bytes, %c400 : i64
  %size = arith.select %few, %more, %bytes : i64
  %offset = arith.select %few, %c64, %c0_i64 : i64
  %s = memory.alloc_storage %size align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[%offset] shape %shape : tensor<1xi64, #relay.device<cpu:0>> -> tensor<?xf32, #relay.device<cpu:0>>
  %y = vm.invoke_tvm_op @test_kernel ins(%x : tensor<?xf32, #relay.device<cpu:0>>) outs(%t : tensor<?xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return %y : tensor<?xf32, #relay.device<cpu:0>>
}

// -----

// So does one that is selected by an equality.
//
// SMALL:      memory of @equal on cpu:0, for n = 10
// SMALL:        planned {{.*}} = 160 B
// LARGE:      memory of @equal on cpu:0, for n = 200
// LARGE:        planned {{.*}} = 800 B
relay.prim_func @test_kernel(%x: tensor<?xf32>) -> tensor<?xf32> {
  relay.yield %x : tensor<?xf32>
}
func.func @equal(%x: tensor<?xf32, #relay.device<cpu:0>> {relay.dims = ["n"]}) -> tensor<?xf32, #relay.device<cpu:0>> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c10 = arith.constant 10 : i64
  %shape = vm.shape_of %x : (tensor<?xf32, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>>
  %n = tensor.extract %shape[%c0] : tensor<1xi64, #relay.device<cpu:0>>
  %bytes = arith.muli %n, %c4 : i64
  %more = arith.muli %bytes, %c4 : i64
  %ten = arith.cmpi eq, %n, %c10 : i64
  %size = arith.select %ten, %more, %bytes : i64
  %s = memory.alloc_storage %size align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[0] shape %shape : tensor<1xi64, #relay.device<cpu:0>> -> tensor<?xf32, #relay.device<cpu:0>>
  %y = vm.invoke_tvm_op @test_kernel ins(%x : tensor<?xf32, #relay.device<cpu:0>>) outs(%t : tensor<?xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cpu:0>>
  func.return %y : tensor<?xf32, #relay.device<cpu:0>>
}
