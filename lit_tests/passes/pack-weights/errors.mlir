// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'pack-weights{width=12}' %s

// expected-error@+1 {{width must be 8, 16 or 32, but is 12}}
builtin.module {
}
