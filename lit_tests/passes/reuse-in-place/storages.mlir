// RUN: xrelay-opt --split-input-file -p reuse-in-place %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p reuse-in-place,verify-memory-plan %s

// A storage in another memory scope of a device is not taken over.
//
// CHECK-LABEL: @scopes
// CHECK:         memory.alloc_storage
// CHECK:         memory.alloc_storage 16 align 64 : !memory.storage<#cpu0_fast>
func.func @scopes(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32, #relay.device<cpu:0>>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t0 : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0, scope = "fast">>
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32, #relay.device<cpu:0, scope = "fast">>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32, #relay.device<cpu:0>>) outs(%t1 : tensor<4xf32, #relay.device<cpu:0, scope = "fast">>) -> tensor<4xf32, #relay.device<cpu:0, scope = "fast">>
  "test.op"(%b) : (tensor<4xf32, #relay.device<cpu:0, scope = "fast">>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A copy to another device is not in place, but a kernel may overwrite what it wrote there.
//
// CHECK-LABEL: @devices
// CHECK:         memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK:         memory.copy
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[S]][0]
func.func @devices(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32, #relay.device<cpu:0>>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t0 : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32, #relay.device<cuda:0>>
  %b = memory.copy ins(%a : tensor<4xf32, #relay.device<cpu:0>>) outs(%t1 : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %s2 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32, #relay.device<cuda:0>>
  %d = vm.invoke_tvm_op @exp ins(%b : tensor<4xf32, #relay.device<cuda:0>>) outs(%t2 : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  "test.op"(%d) : (tensor<4xf32, #relay.device<cuda:0>>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A storage of a weaker alignment is not taken over.
//
// CHECK-LABEL: @alignment
// CHECK:         memory.alloc_storage 16 align 64
// CHECK:         memory.alloc_storage 16 align 128
func.func @alignment(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 128 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// A storage that is larger than its tensor stays as it is.
//
// CHECK-LABEL: @larger
// CHECK:         memory.alloc_storage 32
// CHECK:         memory.alloc_storage 16
func.func @larger(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 32 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// Sizes that are not known are equal if their polynomials are, as for results of one shape.
//
// CHECK-LABEL: @equal_dims
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage %
// CHECK:         memory.alloc_tensor %[[S]][0] shape %
// CHECK:         memory.alloc_tensor %[[S]][0] shape %again
func.func @equal_dims(%x: tensor<?xf32>) {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %n = tensor.extract %shape[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %s0 = memory.alloc_storage %bytes align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<?xf32>) outs(%t0 : tensor<?xf32>) -> tensor<?xf32>
  %again = vm.shape_of %a : (tensor<?xf32>) -> tensor<1xi64>
  %m = tensor.extract %again[%c0] : tensor<1xi64>
  %size = arith.muli %c4, %m : i64
  %s1 = memory.alloc_storage %size align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] shape %again : tensor<1xi64> -> tensor<?xf32>
  %b = vm.invoke_tvm_op @exp ins(%a : tensor<?xf32>) outs(%t1 : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%b) : (tensor<?xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// Dims that are not known to be equal may be broadcast: nothing is overwritten.
//
// CHECK-LABEL: @unknown_dims
// CHECK:         memory.alloc_storage %
// CHECK:         memory.alloc_storage %
func.func @unknown_dims(%x: tensor<?xf32>, %y: tensor<?xf32>, %dims: tensor<1xi64>) {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %n = tensor.extract %shape[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %s0 = memory.alloc_storage %bytes align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<?xf32>) outs(%t0 : tensor<?xf32>) -> tensor<?xf32>
  %m = tensor.extract %dims[%c0] : tensor<1xi64>
  %size = arith.muli %m, %c4 : i64
  %s1 = memory.alloc_storage %size align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %b = vm.invoke_tvm_op @add ins(%a, %y : tensor<?xf32>, tensor<?xf32>) outs(%t1 : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%b) : (tensor<?xf32>) -> ()
  func.return
}
relay.prim_func @exp(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}
relay.prim_func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}
