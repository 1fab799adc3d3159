// RUN: xrelay-opt --split-input-file -p lend-caches %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p lend-caches,lend-caches %s | filecheck %s

// The rows of a cache become its outermost dim, and the result says in whose memory it is. What reads
// the concatenation, or the parameter, reads it in its order.
//
// CHECK-LABEL: @main
// CHECK-SAME:    %past: tensor<?x1x4x8xf32> {relay.dims = ["past", 1 : i64, 4 : i64, 8 : i64], relay.name = "past"}
// CHECK-SAME:    -> (tensor<?x1x4x8xf32> {relay.cached = {parameter = "past", maximum = 64 : i64}}, tensor<1x4x8x?xf32>, tensor<1x4x?x8xf32>)
// CHECK-DAG:     %[[PAST:.*]] = relay.transpose %past {axes = array<i64: 1, 2, 0, 3>}
// CHECK-DAG:     %[[NEW:.*]] = relay.transpose %x {axes = array<i64: 1, 0, 2, 3>}
// CHECK:         %[[ALL:.*]] = relay.concatenate %past, %[[NEW]] {relay.unfused}
// CHECK:         %[[KEYS:.*]] = relay.transpose %[[ALL]] {axes = array<i64: 1, 2, 3, 0>}
// CHECK:         %[[OLD:.*]] = relay.nn.relu %[[PAST]]
// CHECK:         func.return %[[ALL]], %[[KEYS]], %[[OLD]]
func.func @main(%x: tensor<1x?x4x8xf32>, %past: tensor<1x4x?x8xf32> {relay.dims = [1, 4, "past", 8], relay.cache = {axis = 2, maximum = 64}})
    -> (tensor<1x4x?x8xf32>, tensor<1x4x8x?xf32>, tensor<1x4x?x8xf32>) {
  %new = relay.transpose %x {axes = array<i64: 0, 2, 1, 3>} : (tensor<1x?x4x8xf32>) -> tensor<1x4x?x8xf32>
  %all = relay.concatenate %past, %new {axis = 2} : (tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>) -> tensor<1x4x?x8xf32>
  %keys = relay.transpose %all {axes = array<i64: 0, 1, 3, 2>} : (tensor<1x4x?x8xf32>) -> tensor<1x4x8x?xf32>
  %old = relay.nn.relu %past : (tensor<1x4x?x8xf32>) -> tensor<1x4x?x8xf32>
  func.return %all, %keys, %old : tensor<1x4x?x8xf32>, tensor<1x4x8x?xf32>, tensor<1x4x?x8xf32>
}

// -----

// Rows that are outermost stay as they are.
//
// CHECK-LABEL: @rows_first
// CHECK-SAME:    %past: tensor<?x8xf32>
// CHECK-NOT:     relay.transpose
// CHECK:         relay.concatenate %past, %a, %b {relay.unfused}
func.func @rows_first(%past: tensor<?x8xf32> {relay.cache = {axis = 0, maximum = 64}}, %a: tensor<1x8xf32>, %b: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %all = relay.concatenate %past, %a, %b {axis = 0} : (tensor<?x8xf32>, tensor<1x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %all : tensor<?x8xf32>
}
