// RUN: xrelay-opt -p 'reorder-for-memory{nodes=0}' --verify-diagnostics %s

// The limit of the search must be positive.
//
// expected-error@+1 {{nodes must be at least 1, but is 0}}
builtin.module {
}
