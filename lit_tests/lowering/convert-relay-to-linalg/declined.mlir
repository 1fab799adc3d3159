// RUN: xrelay-opt --remarks -p convert-relay-to-linalg --verify-diagnostics %s

// A kernel with elements that have no place in memory is not converted.

relay.prim_func @declined(%x: tensor<4xi4>) -> tensor<4xf32> {
  // expected-remark@+1 {{@declined is not native: relay.cast has no linalg rule for tensor<4xi4>}}
  %0 = relay.cast %x {dtype = f32} : (tensor<4xi4>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
