// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Each rule of programs has its message, with the number and its bound.

// expected-error@+1 {{'bytecode.kernel' op reads value 2, but only 2 values are defined before}}
bytecode.kernel @k (tensor<4xf32>) -> [2] {
  bytecode.step "relay.nn.relu" [0] -> [1] : (tensor<4xf32>)
}

// -----

bytecode.kernel @k (tensor<4xf32>) -> [1] {
  // expected-error@+1 {{'bytecode.step' op reads value 1, but only 1 values are defined before}}
  bytecode.step "relay.nn.relu" [1] -> [1] : (tensor<4xf32>)
}

// -----

bytecode.kernel @k (tensor<4xf32>) -> [1] {
  // expected-error@+1 {{'bytecode.step' op defines value 3, but the next one is 1}}
  bytecode.step "relay.nn.relu" [0] -> [3] : (tensor<4xf32>)
}

// -----

bytecode.kernel @k (tensor<4xf32>) -> [1] {
  // expected-error@+1 {{1 values are defined, but 2 types are given}}
  bytecode.step "relay.nn.relu" [0] -> [1] : (tensor<4xf32>, tensor<4xf32>)
}

// -----

bytecode.kernel @k (tensor<4xf32>) -> [1] {
  bytecode.step "relay.nn.relu" [0] -> [1] : (tensor<4xf32>)
  // expected-error@+1 {{'bytecode.kernel_constant' op must come before the 1 steps above it}}
  bytecode.kernel_constant dense<1.0> : tensor<f32>
}

// -----

bytecode.kernel @k (tensor<4xf32>) -> [0] {
  // expected-error@+1 {{'test.op' op is neither a constant nor a step of bytecode.kernel}}
  "test.op"() : () -> ()
}

// -----

// What an operator's op may not say, a step of it may not either.

bytecode.kernel @k (tensor<4xf32>) -> [1] {
  // expected-error@+1 {{relay.nn.softmax: axis must be in [-1, 1), but is 1}}
  bytecode.step "relay.nn.softmax" [0] -> [1] : (tensor<4xf32>) with {axis = 1 : i64}
}

// -----

bytecode.kernel @k (tensor<4xf32>) -> [1] {
  // expected-error@+1 {{'bytecode.step' op relay.nn.softmax needs axis, an integer}}
  bytecode.step "relay.nn.softmax" [0] -> [1] : (tensor<4xf32>)
}

// -----

bytecode.kernel @k (tensor<4xf32>) -> [1] {
  // expected-error@+1 {{the result of relay.exp is tensor<4xf32>, but is declared as tensor<5xf32>}}
  bytecode.step "relay.exp" [0] -> [1] : (tensor<5xf32>)
}

// -----

// expected-error@+1 {{2 parameters do not fit in 1 registers}}
bytecode.func @f ("x" : tensor<4xf32>, "y" : tensor<4xf32>) registers 1 {
  bytecode.ret r0
}

// -----

// expected-error@+1 {{1 parameters are named, but 0 have types}}
"bytecode.func"() <{sym_name = "f", param_names = ["x"], param_types = [], register_count = 1 : i64}> ({
  bytecode.ret r0
}) : () -> ()

// -----

// expected-error@+1 {{two results are named "y"}}
bytecode.func @f ("x" : tensor<f32>) -> ("y" : tensor<f32>, "z" : tensor<f32>, "y" : tensor<f32>) registers 1 {
  bytecode.ret r0
}

// -----

// expected-error@+1 {{a result needs a name that is not empty}}
bytecode.func @f ("x" : tensor<f32>) -> ("" : tensor<f32>) registers 1 {
  bytecode.ret r0
}

// -----

// expected-error@+1 {{2 results are named, but 1 have types}}
"bytecode.func"() <{sym_name = "f", param_names = [], param_types = [], output_names = ["y", "z"], output_types = [tensor<f32>], register_count = 1 : i64}> ({
  bytecode.ret r0
}) : () -> ()

// -----

// expected-error@+1 {{0 results are named, but 1 have types}}
"bytecode.func"() <{sym_name = "f", param_names = [], param_types = [], output_types = [tensor<f32>], register_count = 1 : i64}> ({
  bytecode.ret r0
}) : () -> ()

// -----

// expected-error@+1 {{bytecode.ret uses register r3, but @f has 3 registers}}
bytecode.func @f () registers 3 {
  bytecode.ret r3
}

// -----

// expected-error@+1 {{bytecode.alloc_adt uses register r5, but @f has 3 registers}}
bytecode.func @f () registers 3 {
  bytecode.alloc_adt r0, 0(r1, r5)
  bytecode.ret r0
}

// -----

// expected-error@+1 {{bytecode.goto jumps from instruction 0 to 3, but @f has 2 instructions}}
bytecode.func @f ("x" : tensor<f32>) registers 1 {
  bytecode.goto 3
  bytecode.ret r0
}

// -----

// expected-error@+1 {{bytecode.if jumps from instruction 0 to -2, but @f has 2 instructions}}
bytecode.func @f ("x" : tensor<f32>) registers 1 {
  bytecode.if r0 1, -2
  bytecode.ret r0
}

// -----

bytecode.func @f () registers 1 {
  // expected-error@+1 {{expected a register like r3, but got x3}}
  bytecode.ret x3
}

// -----

// expected-error@+1 {{a register's number must be at least 0, but is -1}}
"test.op"() {r = #bytecode.register<-1>} : () -> ()

// -----

// expected-error@+1 {{'bytecode.ret' expects parent op 'bytecode.func'}}
bytecode.ret r0

// -----

bytecode.func @f () registers 2 {
  // expected-error@+1 {{'bytecode.require' op check must be one of eq, at_least, at_most, divisible, one_or_eq, broadcast}}
  bytecode.require "like" r0, r1, ""()
}

// -----

bytecode.func @f () registers 3 {
  // expected-error@+1 {{'bytecode.require' op the message has {3}, but there are 3 operands}}
  bytecode.require "eq" r0, r1, "{0} {3}"(r2)
}

// -----

bytecode.func @f () registers 4 {
  // expected-error@+1 {{'bytecode.pack' op 2 slices need 2 offsets and 4 lifetime bounds, but there are 1 and 4}}
  bytecode.pack r0, (r1) align 64 lifetimes [0, 1, 0, 1] sizes (r2, 64)
}

// -----

bytecode.func @f () registers 4 {
  // expected-error@+1 {{'bytecode.pack' op arms must be triples of a slice, a branch and an arm, but are 2}}
  bytecode.pack r0, (r1) align 64 lifetimes [0, 1] sizes (r2) arms [0, 1]
}

// -----

// expected-error@+1 {{bytecode.pack uses register r9, but @f has 4 registers}}
bytecode.func @f () registers 4 {
  bytecode.pack r0, (r1) align 64 lifetimes [0, 1] sizes (r9)
}

// -----

// expected-error@+1 {{bounds must be one or two numbers for a named dim, at least 0 and in order, but those of 'm' are not}}
bytecode.func @f ("x" : tensor<?xf32> dims ["n"]) bounds {m = [1, 2]} registers 1 {
}

// -----

// expected-error@+1 {{bounds must be one or two numbers for a named dim, at least 0 and in order, but those of 'n' are not}}
bytecode.func @f ("x" : tensor<?xf32> dims ["n"]) bounds {n = [3, 2]} registers 1 {
}

// -----

// expected-error@+1 {{'bytecode.func' op 1 dims of parameter "x" are named, but there are 2}}
bytecode.func @f ("x" : tensor<?x?xf32> dims ["n"]) registers 1 {
}

// -----

// expected-error@+1 {{'bytecode.func' op dims of 1 parameters are named, but there are 2}}
"bytecode.func"() <{sym_name = "f", param_names = ["x", "y"], param_types = [tensor<?xf32>, tensor<?xf32>], param_dims = [["n"]], register_count = 2 : i64}> ({
^bb0:
}) : () -> ()

// -----

// expected-error@+1 {{'bytecode.func' op 1 dims of result "y" are named, but there are 2}}
bytecode.func @f ("x" : tensor<?xf32> dims ["n"]) -> ("y" : tensor<?x?xf32> dims ["n"]) registers 1 {
}

// -----

// expected-error@+1 {{'bytecode.func' op a dim of a result is named "m", but none of a parameter}}
bytecode.func @f ("x" : tensor<?xf32> dims ["n"]) -> ("y" : tensor<?x?xf32> dims ["n", "m"]) registers 1 {
}

// -----

// expected-error@+1 {{'bytecode.func' op dims of 1 results are named, but there are 2}}
"bytecode.func"() <{sym_name = "f", param_names = ["x"], param_types = [tensor<?xf32>], param_dims = [["n"]], output_names = ["y", "z"], output_types = [tensor<?xf32>, tensor<?xf32>], output_dims = [["n"]], register_count = 1 : i64}> ({
^bb0:
}) : () -> ()

// -----

// expected-error@+1 {{'bytecode.kernel' op host input 1 is not an argument: there are 1}}
bytecode.kernel @k (tensor<4xf32>) host [1] -> [0] {
}

// -----

bytecode.kernel @k (tensor<4xf32>) -> [1] {
  // expected-error@+1 {{argument out of range}}
  bytecode.step "relay.nn.relu" [0] -> [18446744073709551616] : (tensor<4xf32>)
}
