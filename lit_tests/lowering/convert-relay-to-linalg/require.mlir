// RUN: xrelay-opt -p 'convert-relay-to-linalg{require=true}' --verify-diagnostics %s

relay.prim_func @has_no_rule(%x: tensor<4xi1>) -> tensor<?x1xi32> {
  // expected-error@+1 {{relay.argwhere has no linalg rule}}
  %0 = relay.argwhere %x : (tensor<4xi1>) -> tensor<?x1xi32>
  relay.yield %0 : tensor<?x1xi32>
}
