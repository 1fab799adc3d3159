// RUN: xrelay-opt -p reuse-in-place,verify-memory-plan %s | filecheck %s

// A tensor is not overwritten by a kernel that reads rows of it, too: these are needed for all rows
// of the result.
//
// CHECK-LABEL: func.func @main
// CHECK:         %[[S:.*]] = memory.alloc_storage
// CHECK:         %[[T:.*]] = memory.alloc_storage
// CHECK:         %[[U:.*]] = memory.alloc_tensor %[[T]][0]
// CHECK:         vm.invoke_tvm_op @add ins({{.*}}) outs(%[[U]]
#cpu0 = #relay.device<cpu:0>
func.func @main(%x: tensor<8x4xf32, #cpu0>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage<#cpu0>
  %t = memory.alloc_tensor %s[0] : tensor<8x4xf32, #cpu0>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<8x4xf32, #cpu0>) outs(%t : tensor<8x4xf32, #cpu0>) -> tensor<8x4xf32, #cpu0>
  %v = vm.slice_tensor %a[0] : (tensor<8x4xf32, #cpu0>) -> tensor<1x4xf32, #cpu0>
  %s1 = memory.alloc_storage 128 align 64 : !memory.storage<#cpu0>
  %u = memory.alloc_tensor %s1[0] : tensor<8x4xf32, #cpu0>
  %b = vm.invoke_tvm_op @add ins(%a, %v : tensor<8x4xf32, #cpu0>, tensor<1x4xf32, #cpu0>) outs(%u : tensor<8x4xf32, #cpu0>) -> tensor<8x4xf32, #cpu0>
  "test.op"(%b) : (tensor<8x4xf32, #cpu0>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = relay.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  relay.yield %y : tensor<8x4xf32>
}
relay.prim_func @add(%x: tensor<8x4xf32>, %y: tensor<1x4xf32>) -> tensor<8x4xf32> {
  %z = relay.add %x, %y : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  relay.yield %z : tensor<8x4xf32>
}
