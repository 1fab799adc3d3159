// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'verify-stage{stage=bytecode}' %s

// At `bytecode` nothing else is left, not even a declaration of a function.

bytecode.func @fine () registers 1 {
  bytecode.ret r0
}

// -----

// expected-error@+1 {{func.func is left at stage bytecode: lower-to-bytecode should have replaced it}}
func.func @f() {
  func.return
}

// -----

// expected-error@+1 {{func.func is left at stage bytecode: lower-to-bytecode should have replaced it}}
func.func private @declared()

// -----

// expected-error@+1 {{relay.prim_func is left at stage bytecode: lower-to-bytecode should have replaced it}}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}
