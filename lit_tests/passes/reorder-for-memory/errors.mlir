// RUN: not xrelay-opt -p 'reorder-for-memory{nodes=0}' %s 2>&1 | filecheck %s

// The limit of the search must be positive.
//
// CHECK:       pipeline:1:20: error: nodes must be at least 1, but is 0
// CHECK-NEXT:  reorder-for-memory{nodes=0}
// CHECK-NEXT:                     ^^^^^
builtin.module {
}
