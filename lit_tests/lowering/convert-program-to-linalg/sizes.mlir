// RUN: xrelay-opt --split-input-file -p convert-program-to-linalg,verify-stage{stage=linalg} %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-program-to-linalg %s | mlir-opt --split-input-file -o %t

// Dims of one name are checked on entry, and so are their bounds.
//
// CHECK-LABEL: @named_dims
// CHECK-SAME:    (%x: tensor<?x3xf32> {relay.dims = ["n", 3 : i64]}, %y: tensor<?xf32> {relay.dims = ["n"]})
// CHECK:         %[[N:.*]] = tensor.dim %x
// CHECK:         arith.cmpi sge, %[[N]], %{{.*}} : index
// CHECK:         cf.assert %{{.*}}, "dim 0 (n) of 'x' must be from 2 to 8"
// CHECK:         arith.cmpi sle, %[[N]], %{{.*}} : index
// CHECK:         cf.assert %{{.*}}, "dim 0 (n) of 'x' must be from 2 to 8"
// CHECK:         %[[M:.*]] = tensor.dim %y
// CHECK:         %[[E:.*]] = arith.cmpi eq, %[[M]], %[[N]] : index
// CHECK:         cf.assert %[[E]], "dim 0 (n) of 'y' must be equal to dim 0 (n) of 'x'"
func.func @named_dims(%x: tensor<?x3xf32> {relay.dims = ["n", 3]}, %y: tensor<?xf32> {relay.dims = ["n"]}) attributes {relay.dim_bounds = {n = [2, 8]}} {
  func.return
}

// -----

// A private function trusts its callers.
//
// CHECK-LABEL: @trusting
// CHECK-NEXT:    func.return
func.func private @trusting(%x: tensor<?xf32> {relay.dims = ["n"]}, %y: tensor<?xf32> {relay.dims = ["n"]}) {
  func.return
}

// -----

// The shape of a tensor is made of its dims.
//
// CHECK-LABEL: @shape
// CHECK:         %[[N:.*]] = tensor.dim %x, %{{.*}} : tensor<?x3xf32>
// CHECK:         %[[M:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK:         %[[T:.*]] = arith.constant 3 : i64
// CHECK:         %[[S:.*]] = tensor.from_elements %[[M]], %[[T]] : tensor<2xi64>
// CHECK:         func.return %[[S]]
func.func @shape(%x: tensor<?x3xf32>) -> tensor<2xi64> {
  %0 = vm.shape_of %x : (tensor<?x3xf32>) -> tensor<2xi64>
  func.return %0 : tensor<2xi64>
}

// -----

// Checks become assertions; sizes in their messages that are not constants are `?`.
//
// CHECK-LABEL: @checks
// CHECK:         %[[EQ:.*]] = arith.cmpi eq, %a, %b : i64
// CHECK:         cf.assert %[[EQ]], "? and ?"
// CHECK:         %[[GE:.*]] = arith.cmpi sge, %a, %{{.*}} : i64
// CHECK:         cf.assert %[[GE]], "? is less than 4"
// CHECK:         %[[LE:.*]] = arith.cmpi sle, %a, %b : i64
// CHECK:         cf.assert %[[LE]], "at most"
// CHECK:         %[[POS:.*]] = arith.cmpi sgt, %b
// CHECK:         %[[DIV:.*]] = arith.select %[[POS]], %b, %{{.*}} : i64
// CHECK:         %[[REM:.*]] = arith.remsi %a, %[[DIV]]
// CHECK:         %[[ZERO:.*]] = arith.cmpi eq, %[[REM]]
// CHECK:         %[[BOTH:.*]] = arith.andi %[[POS]], %[[ZERO]]
// CHECK:         cf.assert %[[BOTH]], "divisible"
// CHECK:         %[[ONE:.*]] = arith.cmpi eq, %a
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %a, %b
// CHECK:         %[[OR:.*]] = arith.ori %[[ONE]], %[[SAME]]
// CHECK:         cf.assert %[[OR]], "one or equal"
// CHECK:         cf.assert %{{.*}}, "broadcast"
func.func @checks(%x: tensor<i64>, %y: tensor<i64>) {
  %a = tensor.extract %x[] : tensor<i64>
  %b = tensor.extract %y[] : tensor<i64>
  %c4 = arith.constant 4 : i64
  relay.require eq %a, %b, "{0} and {1}"
  relay.require at_least %a, %c4, "{0} is less than {1}"
  relay.require at_most %a, %b, "at most"
  relay.require divisible %a, %b, "divisible"
  relay.require one_or_eq %a, %b, "one or equal"
  relay.require broadcast %a, %b, "broadcast"
  func.return
}
