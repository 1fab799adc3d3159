// RUN: xrelay-opt --split-input-file -p 'convert-memory-to-memref,erase-memory-spaces,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-memory-to-memref,erase-memory-spaces %s | mlir-opt --split-input-file -o /dev/null

// With one memory, a copy between devices is a copy of bytes, and no type has a space.
//
// CHECK-LABEL: @copy_between_devices
// CHECK-SAME:    (%x: memref<4xf32>)
// CHECK:         %[[S:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16xi8>
// CHECK:         %[[T:.*]] = memref.view %[[S]][%c0][] : memref<16xi8> to memref<4xf32>
// CHECK-NEXT:    memref.copy %x, %[[T]] : memref<4xf32> to memref<4xf32>
// CHECK:         func.call @k(%[[T]]
// CHECK-NOT:     cuda
func.func @copy_between_devices(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cuda:0>>
  %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32, #relay.device<cuda:0>>
  %z = vm.invoke_tvm_op @k ins(%y : tensor<4xf32, #relay.device<cuda:0>>) outs(%t1 : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}
