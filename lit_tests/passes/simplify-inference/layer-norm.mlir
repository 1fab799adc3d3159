// RUN: xrelay-opt -p 'simplify-inference' %s | filecheck %s --check-prefix KEPT
// RUN: xrelay-opt -p 'simplify-inference{layer-norm=true}' %s | filecheck %s

// With `layer-norm`, a layer norm becomes reductions and arithmetic; otherwise it stays.
//
// KEPT:       relay.nn.layer_norm
// CHECK-NOT:  relay.nn.layer_norm
// CHECK:      %[[M:.*]] = relay.mean %x {axis = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[C:.*]] = relay.subtract %x, %[[M]]
// CHECK-NEXT: %[[Q:.*]] = relay.multiply %[[C]], %[[C]]
// CHECK-NEXT: %[[V:.*]] = relay.mean %[[Q]] {axis = array<i64: 1>, keepdims = true}
// CHECK:      %[[R:.*]] = relay.rsqrt
// CHECK-NEXT: %[[N:.*]] = relay.multiply %[[C]], %[[R]]
// CHECK-NEXT: %[[S:.*]] = relay.multiply %[[N]], %g
// CHECK-NEXT: %y = relay.add %[[S]], %b
func.func @layer_norm(%x: tensor<2x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %y = relay.nn.layer_norm %x, %g, %b : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}
