// RUN: xrelay-opt %s -t smt2 | filecheck %s
// RUN: xrelay-opt %s -p expand-packs -t 'smt2{expanded}' | filecheck %s --check-prefix=EXPANDED

// A claim is a query: the text says what it proves, what it trusts, and what each query is about.
// Products of sizes are unknown numbers, and so are the offsets of a pack, above which others lie.
//
// CHECK:      ; A memory plan: the plan is right if each query, a claim negated, is unsat.
// CHECK:      ; its storage, and a slice of a storage in that. Offsets are what the orders of packs say.
// CHECK:      ; Trusted: which contents are needed together
// CHECK:      (set-logic QF_LIA)
// CHECK:      (declare-const [[A:offset[0-9]+]] Int)
// CHECK:      (declare-const [[B:offset[0-9]+]] Int)
// CHECK:      (define-fun [[END:end[0-9]+]] () Int (+ [[A]]
// CHECK:      (assert (<= [[END]] [[B]]))
// CHECK:      ; bytes of slice 1 (%b) and of slice 0 (%a) are apart
// CHECK-NEXT: (push 1)
// CHECK:      (check-sat)
// CHECK-NEXT: (pop 1)
// EXPANDED:     ; its storage, and a slice of a storage in that. Offsets are the arithmetic
// EXPANDED-NOT: declare-const offset
// EXPANDED:     (declare-const quotient
// EXPANDED:     are apart
func.func @main(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %pack = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %pack [0, 2) %bytes
  %b = memory.slice %pack [1, 3) %bytes on (%a)
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%a] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%b] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %z = memory.copy ins(%y : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%y, %z) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}
