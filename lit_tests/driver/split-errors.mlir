// RUN: not xrelay-opt --split-input-file %s 2>&1 | filecheck %s

// An error in one part keeps no other from being processed; lines are of the whole file.
//
// CHECK-DAG: split-errors.mlir:9:1: error: operation 'test.nothing' is not registered
// CHECK-DAG: split-errors.mlir:18:16: error: Expected bare-id
// CHECK-DAG: func.func @good

"test.nothing"() : () -> ()

// -----

func.func @good() {
  func.return
}

// -----
"test.op"() <{ : () -> ()
