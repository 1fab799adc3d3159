// RUN: xrelay-opt --verify-diagnostics --split-input-file -p lower-to-bytecode %s

// An op without an instruction is an error.

func.func @operator(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{relay.exp has no instruction; lower it first, or use xrelay-run --evaluate}}
  %y = relay.exp %x : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

// expected-error@+1 {{a value of type tensor<4xf32> has no device; run plan-devices first}}
func.func @unplanned(%x: tensor<4xf32>) {
  func.return
}

// -----

// expected-error@+1 {{@declared has no body}}
func.func private @declared()

// -----

// expected-error@+1 {{@blocks must be one block, but has 2: branch with relay.if, and loop with calls}}
func.func @blocks() {
  cf.br ^next
^next:
  func.return
}

// -----

// expected-error@+1 {{the machine has no values of type i64}}
func.func @integer(%n: i64) {
  func.return
}
