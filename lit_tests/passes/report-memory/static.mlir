// RUN: xrelay-opt -p report-memory %s -o %t.out 2>&1 | filecheck %s

// Live bytes are counted on one path; planned are the storages that are there at once.
//
// CHECK:      memory of @main on cpu:0
// CHECK-NEXT:   sum of tensors     2,048 B  2.0 KiB  2 tensors
// CHECK-NEXT:   lower bound        2,048 B  2.0 KiB  alive at fused_exp ({{.*}}static.mlir:26)
// CHECK-NEXT:   planned            3,072 B  3.0 KiB  1.500 x the lower bound, 1.500 x the sum
// CHECK-NEXT:   outlives the call  1,024 B  1.0 KiB  part of planned
// CHECK-NEXT:   allocations              2           instead of 2, one for each tensor
// CHECK-NEXT:   largest of the tensors alive at the peak:
// CHECK-NEXT:     tensor    bytes                slot  written by  source
// CHECK-NEXT:     a       1,024 B  1.0 KiB   arena[0]  fused_exp   {{.*}}static.mlir:23
// CHECK-NEXT:     b       1,024 B  1.0 KiB  result[0]  fused_exp   {{.*}}static.mlir:26
relay.prim_func @fused_exp(%x: tensor<256xf32>) -> tensor<256xf32> {
  %y = relay.exp %x : (tensor<256xf32>) -> tensor<256xf32>
  relay.yield %y : tensor<256xf32>
}
func.func @main(%x: tensor<256xf32, #relay.device<cpu:0>>) -> tensor<256xf32, #relay.device<cpu:0>> {
  %arena = memory.alloc_storage 2048 align 64 : !memory.storage<#relay.device<cpu:0>>
  %result = memory.alloc_storage 1024 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %arena[0] : tensor<256xf32, #relay.device<cpu:0>>
  %a = vm.invoke_tvm_op @fused_exp ins(%x : tensor<256xf32, #relay.device<cpu:0>>) outs(%t : tensor<256xf32, #relay.device<cpu:0>>) -> tensor<256xf32, #relay.device<cpu:0>>
  "test.op"() : () -> ()
  %u = memory.alloc_tensor %result[0] : tensor<256xf32, #relay.device<cpu:0>>
  %b = vm.invoke_tvm_op @fused_exp ins(%a : tensor<256xf32, #relay.device<cpu:0>>) outs(%u : tensor<256xf32, #relay.device<cpu:0>>) -> tensor<256xf32, #relay.device<cpu:0>>
  memory.kill %a : tensor<256xf32, #relay.device<cpu:0>>
  func.return %b : tensor<256xf32, #relay.device<cpu:0>>
}
