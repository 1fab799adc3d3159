// RUN: xrelay-opt --verify-diagnostics --split-input-file -p manifest-lifetimes %s

// Control flow is structured.
// expected-error @below {{@blocks must be one block, but has 2: branch with relay.if, and loop with calls}}
func.func @blocks() {
  "test.termop"()[^bb1] : () -> ()
^bb1:
  func.return
}
