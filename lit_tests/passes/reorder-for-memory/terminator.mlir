// RUN: xrelay-opt -p reorder-for-memory --verify-diagnostics %s | filecheck %s

// A terminator stays last, even if it uses none of the bytes in its block.
//
// CHECK-LABEL: func.func @last
// CHECK:         relay.if
// CHECK:           %s_b = memory.alloc_storage
// CHECK:           %s_d = memory.alloc_storage
// CHECK:           %s_a = memory.alloc_storage
// CHECK:           func.call
// CHECK-NEXT:      relay.yield

#cpu0 = #relay.device<cpu:0>
#cuda0 = #relay.device<cuda:0>

// expected-remark@+1 {{peak of live bytes: from 128 to 64 bytes on cpu:0}}
func.func @last(%i: tensor<i32, #cpu0>, %x: tensor<4xf32, #cpu0>, %flag: tensor<i1, #cuda0>, %y: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0> {
  %s_t = memory.alloc_storage 1 align 64 : !memory.storage<#cpu0>
  %t_t = memory.alloc_tensor %s_t[0] : tensor<i1, #cpu0>
  %test = vm.invoke_tvm_op @fused_less ins(%i : tensor<i32, #cpu0>) outs(%t_t : tensor<i1, #cpu0>) -> tensor<i1, #cpu0>
  %r = relay.if %test : tensor<i1, #cpu0> -> (tensor<4xf32, #cpu0>) {
    %s_a = memory.alloc_storage 4 align 64 : !memory.storage<#cpu0>
    %t_a = memory.alloc_tensor %s_a[0] : tensor<i32, #cpu0>
    %a = vm.invoke_tvm_op @fused_subtract ins(%i : tensor<i32, #cpu0>) outs(%t_a : tensor<i32, #cpu0>) -> tensor<i32, #cpu0>
    %s_b = memory.alloc_storage 1 align 64 : !memory.storage<#cpu0>
    %t_b = memory.alloc_tensor %s_b[0] : tensor<i1, #cpu0>
    %b = memory.copy ins(%flag : tensor<i1, #cuda0>) outs(%t_b : tensor<i1, #cpu0>) -> tensor<i1, #cpu0>
    %s_d = memory.alloc_storage 1 align 64 : !memory.storage<#cuda0>
    %t_d = memory.alloc_tensor %s_d[0] : tensor<i1, #cuda0>
    %d = memory.copy ins(%b : tensor<i1, #cpu0>) outs(%t_d : tensor<i1, #cuda0>) -> tensor<i1, #cuda0>
    %c = func.call @last(%a, %x, %d, %x) : (tensor<i32, #cpu0>, tensor<4xf32, #cpu0>, tensor<i1, #cuda0>, tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
    relay.yield %c : tensor<4xf32, #cpu0>
  } else {
    relay.yield %x : tensor<4xf32, #cpu0>
  }
  func.return %r : tensor<4xf32, #cpu0>
}

relay.prim_func @fused_less(%i: tensor<i32>) -> tensor<i1> {
  %0 = relay.constant dense<0> : tensor<i32>
  %1 = relay.less %0, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
  relay.yield %1 : tensor<i1>
}

relay.prim_func @fused_subtract(%i: tensor<i32>) -> tensor<i32> {
  %0 = relay.constant dense<1> : tensor<i32>
  %1 = relay.subtract %i, %0 : (tensor<i32>, tensor<i32>) -> tensor<i32>
  relay.yield %1 : tensor<i32>
}
