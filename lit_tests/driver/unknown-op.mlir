// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// The nearest op or dialect is suggested.

// expected-error@+1 {{operation 'arith.addii' is not registered; did you mean 'arith.addi'?}}
%x = arith.addii %a, %b : i32

// -----

// expected-error@+1 {{operation 'arth.addi' is not registered: unknown dialect 'arth'; did you mean 'arith'?}}
%x = "arth.addi"() : () -> i32

// -----

// expected-error@+1 {{operation 'retrun' is not registered}}
func.func @f() { retrun }
