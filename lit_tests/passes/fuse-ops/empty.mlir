// RUN: xrelay-opt -p fuse-ops %s | filecheck %s

// A module without functions stays.
//
// CHECK: builtin.module {
builtin.module {
}
