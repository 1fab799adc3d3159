// RUN: xrelay-opt -p plan-memory %s | filecheck %s
// RUN: xrelay-opt -p 'plan-memory{in-place=false}' %s | filecheck %s --check-prefix=APART

// Results are written over operands unless that is switched off; the bytes are killed once.
//
// CHECK-LABEL:   func.func @over_operands
// CHECK-NEXT:      %[[S:.*]] = memory.alloc_storage 16 align 64
// CHECK-NEXT:      %[[T:.*]] = memory.alloc_tensor %[[S]][0]
// CHECK:           %[[U:.*]] = memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:      %[[B:.*]] = vm.invoke_tvm_op @f ins(%{{.*}} outs(%[[U]]
// CHECK-NEXT:      "test.op"(%[[B]])
// CHECK-NEXT:      memory.kill %[[B]]
// CHECK-NEXT:      func.return
//
// APART-LABEL:   func.func @over_operands
// APART-NEXT:      %{{.*}} = memory.alloc_storage 80 align 64
func.func @over_operands(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @f ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%b) : (tensor<4xf32>) -> ()
  func.return
}
relay.prim_func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
