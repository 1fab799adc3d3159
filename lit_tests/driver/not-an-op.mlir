// RUN: not xrelay-opt %s 2>&1 | filecheck %s
// RUN: not xrelay-opt -f mlir /dev/null 2>&1 | filecheck %s --check-prefix=EMPTY

// Where an op should be, the error says what is there.
//
// CHECK:      not-an-op.mlir:8:1: error: expected an op, but got ')'
// EMPTY:      /dev/null:1:1: error: expected an op, but got the end of the text
)
