// RUN: xrelay-opt -p convert-relay-to-linalg,convert-memory-to-memref %s | mlir-opt --linalg-fuse-elementwise-ops --canonicalize | filecheck %s

// Upstream makes one loop of a chain, with the destination of the last op.
//
// CHECK-LABEL: func.func private @chain
// CHECK:         %[[OUT:.*]] = tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>) outs(%[[OUT]] : tensor<4x3xf32>)
// CHECK:           arith.addf
// CHECK:           arith.cmpf olt
// CHECK:           arith.cmpf ogt
// CHECK:           math.exp
// CHECK:           arith.divf
// CHECK:           arith.mulf
// CHECK-NEXT:      linalg.yield
// CHECK-NOT:     linalg.generic
// CHECK:         bufferization.materialize_in_destination %[[R]]
relay.prim_func @chain(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = relay.nn.bias_add %x, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = relay.clip %0 {a_min = 0.0, a_max = 6.0} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = relay.sigmoid %1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %3 = relay.multiply %0, %2 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  relay.yield %3 : tensor<4x3xf32>
}
