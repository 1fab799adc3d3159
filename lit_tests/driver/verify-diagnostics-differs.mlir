// RUN: not xrelay-opt --verify-diagnostics --split-input-file %s 2>&1 | filecheck %s

// Unexpected messages, and expected ones that are missing, are errors.

// CHECK:      differs.mlir:9:1: error: unexpected error: 'test.op' op operand #0
// CHECK-NEXT: "test.op"(%late)
// CHECK:      differs.mlir:10:9: error: unexpected note: operand defined here
// CHECK:      differs.mlir:9:1: error: expected error 'of another kind' was not produced
"test.op"(%late) : (i32) -> () // expected-error {{of another kind}}
%late = "test.op"() : () -> i32

// -----

// CHECK:      differs.mlir:15:1: error: expected warning 'never' was not produced
// expected-warning@+1 {{never}}
"test.op"() : () -> ()
