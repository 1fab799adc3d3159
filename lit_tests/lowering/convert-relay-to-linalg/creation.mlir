// RUN: xrelay-opt --split-input-file -p convert-relay-to-linalg %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-relay-to-linalg,convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// A number in every element is a fill.
//
// CHECK-LABEL: @fills
// CHECK:         %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT:    linalg.fill ins(%[[ONE]] : f32) outs(%[[E]] : tensor<2x3xf32>)
relay.prim_func @fills() -> tensor<2x3xf32> {
  %0 = relay.ones {shape = array<i64: 2, 3>, dtype = f32} : tensor<2x3xf32>
  relay.yield %0 : tensor<2x3xf32>
}

// -----

// The dims of a computed shape are its elements; negative ones are 0.
//
// CHECK-LABEL: @fills_a_computed_shape
// CHECK:         %[[N:.*]] = tensor.extract %s
// CHECK-NEXT:    %[[I:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK:         %[[SIZE:.*]] = arith.maxsi %[[I]]
// CHECK:         tensor.empty(%[[SIZE]]) : tensor<?xi32>
relay.prim_func @fills_a_computed_shape(%s: tensor<1xi64>) -> tensor<?xi32> {
  %0 = relay.dyn.zeros %s {dtype = i32} : (tensor<1xi64>) -> tensor<?xi32>
  relay.yield %0 : tensor<?xi32>
}

// -----

// A range computes each element from its index.
//
// CHECK-LABEL: @counts
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?xi32>)
// CHECK:           linalg.index 0
// CHECK:           arith.muli
// CHECK:           arith.addi
// CHECK:           arith.trunci
relay.prim_func @counts(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>) -> tensor<?xi32> {
  %0 = relay.arange %a, %b, %c {dtype = i32} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
  relay.yield %0 : tensor<?xi32>
}

// -----

// A one-hot row compares its place with the index.
//
// CHECK-LABEL: @marks
// CHECK:         ins(%i, %on, %off : tensor<3xi32>, tensor<f32>, tensor<f32>)
// CHECK:           linalg.index 1
// CHECK:           arith.cmpi eq
// CHECK:           arith.select
relay.prim_func @marks(%i: tensor<3xi32>, %on: tensor<f32>, %off: tensor<f32>) -> tensor<3x4xf32> {
  %0 = relay.one_hot %i, %on, %off {depth = 4 : i64, axis = -1 : i64, dtype = f32} : (tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  relay.yield %0 : tensor<3x4xf32>
}

// -----

// A constant has signless elements.
//
// CHECK-LABEL: @holds
// CHECK:         arith.constant dense<[1, -1]> : tensor<2xi8>
relay.prim_func @holds(%x: tensor<2xui8>) -> tensor<2xui8> {
  %0 = relay.constant dense<[1, 255]> : tensor<2xui8>
  %1 = relay.add %x, %0 : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  relay.yield %1 : tensor<2xui8>
}
