// RUN: xrelay-opt --split-input-file -p pass-params %s | filecheck %s

// A function gets the params that it and its callees name, each once, after its own parameters.
//
// CHECK-LABEL: @main
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32> {relay.name = "x"}, %[[B:.*]]: tensor<4xf32> {relay.name = "b"}, %[[W:.*]]: tensor<4x4xf32> {relay.name = "w"})
// CHECK:         %[[Y:.*]] = func.call @layer(%[[X]], %[[W]], %[[B]])
// CHECK:         func.call @layer(%[[Y]], %[[W]], %[[B]])
// CHECK:         relay.add %{{.*}}, %[[B]]
func.func @main(%x: tensor<4xf32> {relay.name = "x"}) -> tensor<4xf32> {
  %b = relay.param "b" : tensor<4xf32>
  %0 = func.call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @layer(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.add %1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
// CHECK:       @layer(%{{.*}}: tensor<4xf32>, %[[W:.*]]: tensor<4x4xf32> {relay.name = "w"}, %[[B:.*]]: tensor<4xf32> {relay.name = "b"})
// CHECK:         relay.multiply %{{.*}}, %[[W]]
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = relay.param "w" : tensor<4x4xf32>
  %b = relay.param "b" : tensor<4xf32>
  %0 = relay.multiply %x, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.add %x, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// -----

// Functions that call each other get the params of all of them.
//
// CHECK-LABEL: @even
// CHECK-SAME:    (%{{.*}}: tensor<i1>, %[[W:.*]]: tensor<2xf32> {relay.name = "w"}) -> tensor<2xf32>
// CHECK:         func.call @odd(%{{.*}}, %[[W]]) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
func.func @even(%c: tensor<i1>) -> tensor<2xf32> {
  %0 = func.call @odd(%c) : (tensor<i1>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// CHECK:       @odd(%{{.*}}: tensor<i1>, %[[W:.*]]: tensor<2xf32> {relay.name = "w"})
// CHECK:         relay.if
// CHECK:           relay.yield %[[W]]
// CHECK:           func.call @even(%{{.*}}, %[[W]])
func.func private @odd(%c: tensor<i1>) -> tensor<2xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<2xf32>) {
    %w = relay.param "w" : tensor<2xf32>
    relay.yield %w : tensor<2xf32>
  } else {
    %0 = func.call @even(%c) : (tensor<i1>) -> tensor<2xf32>
    relay.yield %0 : tensor<2xf32>
  }
  func.return %r : tensor<2xf32>
}

// -----

// A function that is used as a value keeps its parameters, and so do those that it calls.
//
// CHECK-LABEL: @values
// CHECK:         relay.global @f
// CHECK:         @f() -> tensor<2xf32>
// CHECK-NEXT:      func.call @g()
// CHECK:         @g() -> tensor<2xf32>
// CHECK-NEXT:      relay.param "w"
func.func @values() -> (() -> tensor<2xf32>) {
  %f = relay.global @f : () -> tensor<2xf32>
  func.return %f : () -> tensor<2xf32>
}
func.func private @f() -> tensor<2xf32> {
  %0 = func.call @g() : () -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func private @g() -> tensor<2xf32> {
  %w = relay.param "w" : tensor<2xf32>
  func.return %w : tensor<2xf32>
}
