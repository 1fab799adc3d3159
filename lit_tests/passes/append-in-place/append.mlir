// RUN: xrelay-opt -p append-in-place %s | filecheck %s
// RUN: xrelay-opt -p append-in-place,append-in-place,simplify-shapes,plan-memory{lend-entries=true} %s | filecheck %s --check-prefix LENT

// The rows of a cache are copied unless its memory is lent for the result; the new ones are written
// after them.
//
// CHECK-LABEL: @main
// CHECK-NOT:     vm.invoke_tvm_op
// CHECK:         %[[HEAD:.*]] = memory.alloc_tensor %[[S:.*]][0] shape
// CHECK:         %[[OLD:.*]] = memory.copy ins(%past {{.*}} outs(%[[HEAD]] {{.*}} {memory.lent}
// CHECK:         %[[END:.*]] = arith.muli %rows, %{{.*}} : i64
// CHECK:         %[[ROOM:.*]] = memory.alloc_tensor %[[S]][%[[END]]] :
// CHECK:         %[[NEW:.*]] = memory.copy ins(%new {{.*}} outs(%[[ROOM]]
// CHECK:         %[[Y:.*]] = vm.join_tensors %[[OLD]], %[[NEW]] shape
// CHECK:         func.return %[[Y]]

// The storage of all of them is that of the result, which a caller lends.
//
// LENT-LABEL: @main
// LENT-SAME:    %[[RESULT:[a-z0-9_]+]]: !memory.storage<#cpu0> {memory.result = 0 : i64
// LENT:         memory.alloc_tensor %[[RESULT]][0] shape
// LENT:         memory.alloc_tensor %[[RESULT]][%{{.*}}]
// LENT:         vm.join_tensors
builtin.module {
  func.func @main(%past: tensor<?x8xf32, #relay.device<cpu:0>>, %new: tensor<1x8xf32, #relay.device<cpu:0>>)
      -> (tensor<?x8xf32, #relay.device<cpu:0>> {relay.cached = {parameter = "past", maximum = 64}}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : i64
    %c8 = arith.constant 8 : i64
    %c32 = arith.constant 32 : i64
    %s = vm.shape_of %past : (tensor<?x8xf32, #relay.device<cpu:0>>) -> tensor<2xi64, #relay.device<cpu:0>>
    %n = tensor.extract %s[%c0] : tensor<2xi64, #relay.device<cpu:0>>
    %m = arith.addi %n, %c1 : i64
    %bytes = arith.muli %m, %c32 : i64
    %shape = tensor.from_elements %m, %c8 : tensor<2xi64, #relay.device<cpu:0>>
    %storage = memory.alloc_storage %bytes align 64 : !memory.storage<#relay.device<cpu:0>>
    %t = memory.alloc_tensor %storage[0] shape %shape : tensor<2xi64, #relay.device<cpu:0>> -> tensor<?x8xf32, #relay.device<cpu:0>>
    %y = vm.invoke_tvm_op @join ins(%past, %new : tensor<?x8xf32, #relay.device<cpu:0>>, tensor<1x8xf32, #relay.device<cpu:0>>) outs(%t : tensor<?x8xf32, #relay.device<cpu:0>>) -> tensor<?x8xf32, #relay.device<cpu:0>>
    func.return %y : tensor<?x8xf32, #relay.device<cpu:0>>
  }
  relay.prim_func @join(%a: tensor<?x8xf32>, %b: tensor<1x8xf32>) -> tensor<?x8xf32> {
    %y = relay.concatenate %a, %b : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    relay.yield %y : tensor<?x8xf32>
  }
}
