// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Ops that are wrong are errors where they stand, with notes for other places.

// expected-error@+1 {{'test.op' op operand #0 does not dominate this use}}
"test.op"(%late) : (i32) -> ()
// expected-note@+1 {{operand defined here}}
%late = "test.op"() : () -> i32

// -----

// expected-note@+1 {{isolated by this op}}
func.func @isolated() {
  // expected-error@+1 {{'test.op' op operand #0 is defined outside of 'func.func', which is isolated from above}}
  "test.op"(%outer) : (i32) -> ()
  func.return
}
// expected-note@+1 {{operand defined here}}
%outer = "test.op"() : () -> i32

// -----

// expected-error@+1 {{'arith.addi' op Expected 2 operands, but got 0}}
%sum = "arith.addi"() : () -> i32

// -----

// expected-note@+1 {{of this 'func.func' op}}
"func.func"() <{sym_name = "f", function_type = () -> ()}> ({
  // expected-error@+1 {{'test.op' op ends a block, but is not a terminator}}
  "test.op"() : () -> ()
}) : () -> ()

// -----

// An attribute that is wrong by itself is an error at its op.
// expected-error@+1 {{'func.return' op}}
func.func @result() -> i32 { func.return }

// -----

// expected-note@+1 {{first defined here}}
func.func private @twice()
// expected-error@+1 {{symbol '@twice' is defined twice}}
func.func private @twice()
