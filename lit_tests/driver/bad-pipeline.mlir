// RUN: not xrelay-opt %s -p "cse,canonicalise" 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not xrelay-opt %s -p "cse,printf-to-llvm{level=3}" 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not xrelay-opt %s -p "mlir-opt{argument=a}" 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not xrelay-opt %s -p "mlir-opt{generic=7}" 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not xrelay-opt %s -p "cse,,dce" 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not xrelay-opt %s -p "cse{" 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not xrelay-opt %s -p "cse vm" 2>&1 | filecheck %s --check-prefix=COMMA
// RUN: not xrelay-opt %s -p "vm{level=3}" 2>&1 | filecheck %s --check-prefix=PIPELINE
// RUN: not xrelay-opt %s -p "cse,vm{memory=pack}" 2>&1 | filecheck %s --check-prefix=VALUE

// A wrong pipeline is shown with a caret, and the message says what would be right.
//
// NAME:        pipeline:1:5: error: unknown pass or pipeline 'canonicalise'; did you mean 'canonicalize'?
// NAME-NEXT:   cse,canonicalise
// NAME-NEXT:       ^^^^^^^^^^^^
// NONE:        pipeline:1:20: error: pass 'printf-to-llvm' has no option 'level' (it accepts none)
// OPTION:      pipeline:1:10: error: pass 'mlir-opt' has no option 'argument' (it accepts: executable, generic, arguments); did you mean 'arguments'?
// TYPE:        pipeline:1:10: error: option 'generic' of pass 'mlir-opt' must be true or false, but is 7
// SYNTAX:      pipeline:1:5: error: expected the name of a pass, but got ','
// OPEN:        pipeline:1:5: error: expected the name of an option or '}', but got the end
// COMMA:       pipeline:1:5: error: expected ',' before the next pass, but got 'vm'
// PIPELINE:    pipeline:1:4: error: pipeline 'vm' has no option 'level' (it accepts: reorder, default, peak, work, code, caches, pools, memory, kernels, entries)
// VALUE:       pipeline:1:8: error: option 'memory' of pipeline 'vm' must be one of none, coalesce, plan, but is "pack"
// VALUE-NEXT:  cse,vm{memory=pack}
// VALUE-NEXT:         ^^^^^^
func.func @f() {
  func.return
}
