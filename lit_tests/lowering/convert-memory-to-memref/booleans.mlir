// RUN: xrelay-opt --split-input-file -p 'convert-memory-to-memref,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// Booleans are bytes in memory; kernels compute with i1.
//
// CHECK-LABEL: func.func private @not
// CHECK-SAME:    (%a: memref<4xi8>, %[[OUT:[0-9]+]]: memref<4xi8>)
// CHECK:         %[[A:.*]] = bufferization.to_tensor %a restrict : memref<4xi8> to tensor<4xi8>
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : tensor<4xi8>)
// CHECK-NEXT:    ^{{.*}}(%[[X:.*]]: i8, %{{.*}}: i8):
// CHECK:           %[[B:.*]] = arith.cmpi ne, %[[X]], %{{.*}} : i8
// CHECK:           %[[N:.*]] = arith.xori %[[B]], %true : i1
// CHECK-NEXT:      %[[R:.*]] = arith.extui %[[N]] : i1 to i8
// CHECK-NEXT:      linalg.yield %[[R]] : i8
relay.prim_func @not(%a: tensor<4xi1>) -> tensor<4xi1> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<4xi1>
  %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xi1>) outs(%e : tensor<4xi1>) {
  ^bb0(%x: i1, %y: i1):
    %n = arith.xori %x, %true : i1
    linalg.yield %n : i1
  } -> tensor<4xi1>
  relay.yield %b : tensor<4xi1>
}

// -----

// A constant of booleans is one of bytes.
//
// CHECK: memref.global "private" constant @constant : memref<2xi8> = dense<[1, 0]>
func.func @bytes() -> tensor<2xi1> {
  %c = relay.constant dense<[true, false]> : tensor<2xi1>
  func.return %c : tensor<2xi1>
}
