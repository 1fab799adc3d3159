// RUN: xrelay-opt -p 'convert-memory-to-memref,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt -p convert-memory-to-memref %s | mlir-opt -o /dev/null

// Named dims of a function that is called from inside are checked, and their bounds.
//
// CHECK:       xrelay.messages = ["f: parameter 'x' has dim 0 (n) of {0}, but n must be from 1 to 8", "f: parameter 'x' has dim 0 (n) of {0}, but parameter 'y' has dim 0 (n) of {1}"]
// CHECK-LABEL: func.func private @f(
// CHECK:         %[[X:.*]] = memref.dim %x
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[X]]
// CHECK-NEXT:    %[[LOW:.*]] = arith.cmpi sge, %[[N]], %c1
// CHECK-NEXT:    func.call @xrelay_require(%[[LOW]]
// CHECK-NEXT:    %[[HIGH:.*]] = arith.cmpi sle, %[[N]], %c8
// CHECK-NEXT:    func.call @xrelay_require(%[[HIGH]]
// CHECK:         %[[Y:.*]] = memref.dim %y
// CHECK-NEXT:    %[[M:.*]] = arith.index_cast %[[Y]]
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[M]]
// CHECK-NEXT:    func.call @xrelay_require(%[[SAME]]
func.func private @f(%x: tensor<?xf32> {relay.dims = ["n"]}, %y: tensor<?xf32> {relay.dims = ["n"]}) attributes {relay.dim_bounds = {n = [1 : i64, 8 : i64]}} {
  func.return
}

// The C interface checks those of an entry.
//
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    func.call @f
func.func @main(%x: tensor<?xf32> {relay.dims = ["n"]}, %y: tensor<?xf32> {relay.dims = ["n"]}) {
  func.call @f(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}
