// RUN: xrelay-opt --verify-diagnostics -p 'pack-weights{filters=12}' %s

// expected-error@+1 {{filters must be 8, 16 or 32, but is 12}}
builtin.module {
}
