// RUN: xrelay-opt -p convert-memory-to-memref %s | filecheck %s
// RUN: xrelay-opt -p convert-memory-to-memref %s | mlir-opt -o /dev/null

// CHECK:       xrelay.messages = ["k of topk must be at most {0}, but is {1}"]

// CHECK-LABEL: func.func @topk(
// CHECK:         %[[OK:.*]] = arith.cmpi sle, %[[K:.*]], %[[N:.*]] : i64
// CHECK:         func.call @xrelay_require(%[[OK]], %{{.*}}, %[[N]], %[[K]])
// CHECK:         %[[SOME:.*]] = arith.cmpi sgt, %[[K]], %{{.*}} : i64
// CHECK:         arith.select %[[SOME]], %[[K]], %[[N]] : i64
func.func @topk(%n: i64, %k: i64) -> i64 {
  %m = relay.measure "topk_length"(%k, %n) : (i64, i64) -> i64
  func.return %m : i64
}

// An unsigned size is not sign-extended.
// CHECK-LABEL: func.func @unsigned(
// CHECK:         arith.extui %{{.*}} : i8 to i64
func.func @unsigned(%x: tensor<ui8>) -> i64 {
  %e = tensor.extract %x[] : tensor<ui8>
  %m = relay.measure "as_size"(%e) : (ui8) -> i64
  func.return %m : i64
}

// CHECK-LABEL: func.func @count(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             memref.load %{{.*}} : memref<?x4xf32>
// CHECK:             arith.cmpf une
// CHECK-NOT:     relay.measure
func.func @count(%x: tensor<?x4xf32>) -> i64 {
  %m = relay.measure "count_nonzero"(%x) : (tensor<?x4xf32>) -> i64
  func.return %m : i64
}
