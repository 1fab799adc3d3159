// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// A value that is never defined is an error where it is used first.
func.func @same_name_elsewhere() {
  %x = "test.op"() : () -> i32
  func.return
}
func.func @undefined() {
  // expected-error@+1 {{value '%x' is used but not defined}}
  "test.op"(%x) : (i32) -> ()
  "test.op"(%x) : (i32) -> ()
  func.return
}

// -----

// expected-error@+1 {{operand is used with type i64, but has been previously used or defined with type i32}}
%a = "test.op"() : () -> i32 "test.op"(%a) : (i64) -> ()

// -----

%a = "test.op"() : () -> i32
// expected-error@+1 {{SSA value %a is already defined}}
%a = "test.op"() : () -> i32

// -----

func.func @blocks() {
  // expected-error@+1 {{block '^nowhere' is used but not defined}}
  "cf.br"() [^nowhere] : () -> ()
}
