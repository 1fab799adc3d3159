// RUN: xrelay-opt %s -p "cse , dce" --dump-pass-pipeline -o %t.out 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: xrelay-opt %s -p "convert-memref-to-ptr{lower-func},canonicalize" --dump-pass-pipeline -o %t.out 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: xrelay-opt %s -p "convert-memref-to-ptr{lower_func=false}" --dump-pass-pipeline -o %t.out 2>&1 | filecheck %s --check-prefix=FALSE

// White space may stand anywhere; a bare boolean option is true; all options are shown.
//
// DUMP:  {{^}}cse,dce{{$}}
// FLAG:  {{^}}convert-memref-to-ptr{lower-func=true},canonicalize{{$}}
// FALSE: {{^}}convert-memref-to-ptr{lower-func=false}{{$}}
func.func @f() {
  func.return
}
