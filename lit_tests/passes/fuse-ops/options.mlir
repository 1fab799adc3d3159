// RUN: xrelay-opt -p 'fuse-ops{level=0}' %s | filecheck %s --check-prefix=ALONE
// RUN: xrelay-opt -p 'fuse-ops{max-size=2}' %s | filecheck %s --check-prefix=TWO
// RUN: not xrelay-opt -p 'fuse-ops{level=2}' %s 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: not xrelay-opt -p 'fuse-ops{max-size=0}' %s 2>&1 | filecheck %s --check-prefix=SIZE

// Level 0 makes a primitive of each operator; a primitive has at most `max-size` operators.
//
// ALONE:        relay.primitive
// ALONE-NEXT:     relay.exp
// ALONE-NEXT:     relay.yield
// ALONE:        relay.primitive
// ALONE-NEXT:     relay.tanh
// ALONE-NEXT:     relay.yield
// ALONE:        relay.primitive
// ALONE-NEXT:     relay.negative
// ALONE-NEXT:     relay.yield
//
// TWO:          relay.primitive
// TWO-NEXT:       relay.exp
// TWO-NEXT:       relay.tanh
// TWO-NEXT:       relay.yield
// TWO:          relay.primitive
// TWO-NEXT:       relay.negative
// TWO-NEXT:       relay.yield
//
// LEVEL: error: level must be 0 or 1, but is 2
// SIZE:  error: max-size must be at least 1, but is 0
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.negative %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
