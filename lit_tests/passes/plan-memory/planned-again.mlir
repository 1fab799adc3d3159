// RUN: xrelay-opt -p plan-memory %s -o %t.once.mlir
// RUN: xrelay-opt -p plan-memory %t.once.mlir -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir
// RUN: filecheck %s < %t.twice.mlir

// A planned program that is planned again is unchanged, in branches and for dynamic sizes too.
//
// CHECK-LABEL: func.func @planned
// CHECK:         %[[DYNAMIC:.*]] = memory.alloc_storage %{{.*}} align 64
// CHECK-NOT:     memory.alloc_storage
// CHECK:         relay.if
// CHECK-NOT:     memory.alloc_storage
func.func @planned(%c: tensor<i1>, %n: i64, %x: tensor<?xf32>) {
  %c4 = arith.constant 4 : i64
  %bytes = arith.muli %n, %c4 : i64
  %shape = tensor.from_elements %n : tensor<1xi64>
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  relay.if %c : tensor<i1> {
    %s1 = memory.alloc_storage %bytes align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
    %b = vm.invoke_tvm_op @f ins(%a : tensor<?xf32>) outs(%t1 : tensor<?xf32>) -> tensor<?xf32>
    "test.op"(%b) : (tensor<?xf32>) -> ()
    relay.yield
  } else {
    %s2 = memory.alloc_storage 16 align 64 : !memory.storage
    %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
    %d = vm.invoke_tvm_op @g ins(%a : tensor<?xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
    "test.op"(%d) : (tensor<4xf32>) -> ()
    relay.yield
  }
  func.return
}
relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  relay.yield %x : tensor<?xf32>
}
relay.prim_func @g(%x: tensor<?xf32>) -> tensor<4xf32> {
  %y = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 4>} : (tensor<?xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
