// RUN: not xrelay-opt -p 'pack-weights{width=12}' %s 2>&1 | filecheck %s

// CHECK:       pipeline:1:14: error: width must be 8, 16 or 32, but is 12
// CHECK-NEXT:  pack-weights{width=12}
// CHECK-NEXT:               ^^^^^
builtin.module {
}
