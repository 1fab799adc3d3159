// RUN: xrelay-opt -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// What a copy writes is where its destination is; what it copies is anywhere.
//
// CHECK-LABEL: @memory_copy
// CHECK-SAME:    (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda1>]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cuda1>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[GPU]]
// CHECK-NEXT:    %y = memory.copy ins(%x : [[CPU]]) outs(%t : [[GPU]]) -> [[GPU]]
// CHECK-NEXT:    func.return %y
func.func @memory_copy(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cuda:1> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
