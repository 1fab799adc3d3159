// RUN: xrelay-opt --split-input-file -p fuse-ops %s | filecheck %s

// A kernel is needed in the turns of a loop in which one of its operators is.
//
// CHECK-LABEL: @hull
// CHECK:         relay.primitive({{.*}}) -> (tensor<4xf32>) attributes {turns = array<i64: 1, 4>} {
// CHECK-NEXT:      relay.exp %{{.*}} : (tensor<4xf32>)
// CHECK-NEXT:      relay.negative %{{.*}} : (tensor<4xf32>)
func.func @hull(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.exp %a {relay.turns = array<i64: 1, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.negative %b {relay.turns = array<i64: 3, 4>} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.end_loop %c : (tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// -----

// One that is needed in all turns, or with an operator that is, has none.
//
// CHECK-LABEL: @whole
// CHECK:         relay.primitive({{.*}}) -> (tensor<4xf32>) {
// CHECK-NEXT:      relay.exp %{{.*}} : (tensor<4xf32>)
// CHECK-NEXT:      relay.negative %{{.*}} : (tensor<4xf32>)
// CHECK:         relay.primitive({{.*}}) -> (tensor<4xf32>) {
// CHECK-NEXT:      relay.tanh %{{.*}} : (tensor<4xf32>)
// CHECK-NEXT:      relay.nn.relu %{{.*}} : (tensor<4xf32>)
func.func @whole(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a, %p = relay.loop %x, %y {count = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %b = relay.exp %a {relay.turns = array<i64: 0, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.negative %b {relay.turns = array<i64: 3, 5>} : (tensor<4xf32>) -> tensor<4xf32>
  %q = relay.tanh %p {relay.turns = array<i64: 1, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.nn.relu %q : (tensor<4xf32>) -> tensor<4xf32>
  %d, %s = relay.end_loop %c, %r : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %d, %s : tensor<4xf32>, tensor<4xf32>
}
