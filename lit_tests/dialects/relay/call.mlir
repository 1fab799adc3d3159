// RUN: xrelay-opt %s | xrelay-opt | filecheck %s

// The callee's type is written where it leaves open what the arguments know.
//
// CHECK-LABEL: @callee_with_any_dim
// CHECK:         relay.call %f(%x) : (tensor<4xf32>) -> tensor<?xf32>, callee (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    relay.call %f(%y) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NOT:     callee
// CHECK:         return
func.func @callee_with_any_dim(%x: tensor<4xf32>, %y: tensor<?xf32>) {
  %f = relay.fn (%a: tensor<?xf32>) -> tensor<?xf32> {
    relay.yield %a : tensor<?xf32>
  }
  %u = relay.call %f(%x) : (tensor<4xf32>) -> tensor<?xf32>, callee (tensor<?xf32>) -> tensor<?xf32>
  %v = relay.call %f(%y) : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}
