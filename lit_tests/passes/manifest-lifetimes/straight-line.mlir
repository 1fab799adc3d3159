// RUN: xrelay-opt --split-input-file -p manifest-lifetimes %s | filecheck %s

// Bytes die right after their last use; what the function returns is not killed.
//
// CHECK-LABEL: func.func @dies_after_last_use
// CHECK:         %[[Y:[a-z0-9]+]] = vm.invoke_tvm_op
// CHECK-NEXT:    "test.op"(%[[Y]])
// CHECK-NEXT:    %[[Z:[a-z0-9]+]] = "test.op"(%[[Y]])
// CHECK-NEXT:    memory.kill %[[Z]] : tensor<4xf32>
// CHECK-NEXT:    "test.op"()
// CHECK-NEXT:    func.return
func.func @dies_after_last_use(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  %z = "test.op"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  "test.op"() : () -> ()
  func.return
}
relay.prim_func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %x : tensor<4xf32>
}

// -----

// A result that is never used dies at once, as does a tensor that is never written.
//
// CHECK-LABEL: func.func @never_used
// CHECK:         %[[S:[a-z0-9]+]] = memory.alloc_storage
// CHECK-NEXT:    %[[T:[a-z0-9]+]] = memory.alloc_tensor
// CHECK-NEXT:    memory.kill %[[T]]
// CHECK-NEXT:    %[[Y:[a-z0-9]+]] = "test.op"
// CHECK-NEXT:    memory.kill %[[Y]]
// CHECK-NEXT:    func.return
func.func @never_used() {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = "test.op"() : () -> tensor<4xf32>
  func.return
}

// -----

// Kills at one point are in the order of the definitions of what they kill.
//
// CHECK-LABEL: func.func @several_kills
// CHECK:         %[[A:[a-z0-9]+]] = "test.op"
// CHECK-NEXT:    %[[B:[a-z0-9]+]] = "test.op"
// CHECK-NEXT:    %[[C:[a-z0-9]+]] = "test.op"
// CHECK-NEXT:    %[[P:[a-z0-9]+]] = vm.shape_of %[[A]]
// CHECK-NEXT:    memory.kill %[[A]]
// CHECK:         %[[Y:[a-z0-9]+]] = vm.invoke_tvm_op
// CHECK-NEXT:    memory.kill %[[B]]
// CHECK-NEXT:    memory.kill %[[C]]
// CHECK-NEXT:    func.return
func.func @several_kills() -> tensor<4xf32> {
  %a = "test.op"() : () -> tensor<4xf32>
  %b = "test.op"() : () -> tensor<4xf32>
  %c = "test.op"() : () -> tensor<4xf32>
  %p = vm.shape_of %a : (tensor<4xf32>) -> tensor<1xi64>
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @f ins(%c, %b : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
relay.prim_func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %x : tensor<4xf32>
}

// -----

// Parameters, used or not, and constants are not killed: they do not belong to the function.
//
// CHECK-LABEL: func.func @caller_owns_parameters
// CHECK-NOT:     memory.kill
func.func @caller_owns_parameters(%x: tensor<4xf32>, %unused: tensor<4xf32>) {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %v = vm.reshape_tensor %x : (tensor<4xf32>) -> tensor<2x2xf32>
  "test.op"(%v) : (tensor<2x2xf32>) -> ()
  "test.op"(%c) : (tensor<4xf32>) -> ()
  func.return
}
