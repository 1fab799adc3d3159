// RUN: xrelay-opt -p manifest-alloc %s | filecheck %s

#dev = #relay.device<cpu:0>

// What a turn hands on is written where the first turn finds it. A call keeps its turns.
//
// CHECK-LABEL: @main
// CHECK:         %[[S:.*]] = memory.alloc_storage 32
// CHECK-NEXT:    %[[T0:.*]] = memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:    %[[H0:.*]] = memory.copy_rows ins(%x : {{.*}}) outs(%[[T0]] : {{.*}}) {axis = 0 : i64, start = 0 : i64}
// CHECK-NEXT:    %[[H:.*]] = relay.loop %[[H0]] {count = 4 : i64}
// CHECK:         memory.copy_rows ins(%x : {{.*}}) outs({{.*}}) {axis = 0 : i64, start = 2 : i64, step = 2 : i64}
// CHECK:         %[[A:.*]] = vm.invoke_tvm_op @add ins(%[[H]], {{.*}}) {turns = array<i64: 1, 3>}
// CHECK-NEXT:    %[[T1:.*]] = memory.alloc_tensor %[[S]][0]
// CHECK-NEXT:    %[[N:.*]] = memory.copy_rows ins(%[[A]] : {{.*}}) outs(%[[T1]] :
// CHECK-NEXT:    relay.end_loop %[[N]]
func.func @main(%x: tensor<10x4xf32, #dev>) -> tensor<2x4xf32, #dev> {
  %h0 = relay.read_rows %x {axis = 0 : i64, start = 0 : i64} : (tensor<10x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %h = relay.loop %h0 {count = 4 : i64} : (tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %r = relay.read_rows %x {axis = 0 : i64, start = 2 : i64, step = 2 : i64} : (tensor<10x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %s = relay.call_lowered @add(%h, %r) {turns = array<i64: 1, 3>} : (tensor<2x4xf32, #dev>, tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %n = relay.read_rows %s {axis = 0 : i64, start = 0 : i64} : (tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %z = relay.end_loop %n : (tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  func.return %z : tensor<2x4xf32, #dev>
}
relay.prim_func @add(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = relay.add %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  relay.yield %c : tensor<2x4xf32>
}
