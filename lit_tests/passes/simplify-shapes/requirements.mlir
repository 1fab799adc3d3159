// RUN: xrelay-opt --split-input-file -p simplify-shapes %s | filecheck %s

// A requirement that always holds is removed.
//
// CHECK-LABEL: @always
// CHECK-NOT:     relay.require
// CHECK:         func.return
func.func @always(%x: tensor<?x?xf32>) {
  %s = vm.shape_of %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  %n = tensor.extract %s[%i] : tensor<2xi64>
  %m = tensor.extract %s[%j] : tensor<2xi64>
  %nm = arith.muli %n, %m : i64
  %mn = arith.muli %m, %n : i64
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %n4 = arith.muli %n, %c4 : i64
  %n_1 = arith.addi %n, %c1 : i64
  relay.require eq %nm, %mn, "{0} and {1}"
  relay.require at_least %nm, %c0, "{0} and {1}"
  relay.require at_most %n, %n_1, "{0} and {1}"
  relay.require divisible %n4, %c2, "{0} and {1}"
  relay.require one_or_eq %c1, %n, "{0} and {1}"
  relay.require broadcast %n, %c1, "{0} and {1}"
  relay.require broadcast %nm, %mn, "{0} and {1}"
  func.return
}

// -----

// A requirement that may fail is kept, and made once.
//
// CHECK-LABEL: @perhaps
// CHECK:         relay.require eq %[[N:.*]], %[[M:.*]], "first {0} and {1}"
// CHECK-NEXT:    relay.require at_least %[[N]], %
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      relay.yield
func.func @perhaps(%x: tensor<?x?xf32>, %c: tensor<i1>) {
  %s = vm.shape_of %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  %n = tensor.extract %s[%i] : tensor<2xi64>
  %m = tensor.extract %s[%j] : tensor<2xi64>
  %c1 = arith.constant 1 : i64
  relay.require eq %n, %m, "first {0} and {1}"
  relay.require at_least %n, %c1, "{0} and {1}"
  relay.if %c : tensor<i1> -> () {
    relay.require eq %m, %n, "second {0} and {1}"
    relay.require at_least %n, %c1, "{0} and {1}"
    relay.yield
  } else {
    relay.yield
  }
  func.return
}

// -----

// A requirement that never holds is left: it fails where the program reaches it.
//
// CHECK-LABEL: @never
// CHECK:         relay.require eq
// CHECK:         relay.require at_least
func.func @never(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %m = arith.addi %n, %c1 : i64
  relay.require eq %n, %m, "{0} and {1}"
  relay.require at_least %c0, %m, "{0} and {1}"
  func.return
}

// -----

// A requirement in one branch is not one in the other.
//
// CHECK-LABEL: @in_branches
// CHECK-COUNT-2: relay.require eq
func.func @in_branches(%c: tensor<i1>, %n: i64, %m: i64) {
  relay.if %c : tensor<i1> -> () {
    relay.require eq %n, %m, "{0} and {1}"
    relay.yield
  } else {
    relay.require eq %n, %m, "{0} and {1}"
    relay.yield
  }
  func.return
}
