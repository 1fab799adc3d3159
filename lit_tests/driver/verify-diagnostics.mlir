// RUN: xrelay-opt --verify-diagnostics --split-input-file %s | filecheck %s

// Comments stand for one message each: on the line, lines away, above and below.

"test.op"(%late) : (i32) -> () // expected-error {{does not dominate}}
%late = "test.op"() : () -> i32
// expected-note@-1 {{operand defined here}}

// -----

"test.op"(%late) : (i32) -> ()
// expected-error-re@above {{operand #{{[0-9]+}} does not dominate}}

// expected-note@below {{operand defined here}}
%late = "test.op"() : () -> i32

// -----

// A part without errors is printed, and needs no comments.
// CHECK: "test.op"() {ok}
"test.op"() {ok} : () -> ()
