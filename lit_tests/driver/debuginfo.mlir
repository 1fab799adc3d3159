// RUN: xrelay-opt %s --print-debuginfo | xrelay-opt --print-debuginfo | filecheck %s

// Locations of the arguments of regions are read as they are printed.
//
// CHECK-LABEL: @arguments
// CHECK:         relay.fn rec(%self loc("f":1:1)) (%a: tensor<4xf32> loc("f":2:2)) -> tensor<4xf32>
// CHECK:         relay.primitive(%p = %x : tensor<4xf32> loc("f":3:3)) -> (tensor<4xf32>)
// CHECK:         case (%l: tensor<4xf32> loc("f":4:4), _)
func.func @arguments(%x: tensor<4xf32>, %t: tuple<tensor<4xf32>, tensor<i1>>) {
  %f = relay.fn rec(%self loc("f":1:1)) (%a: tensor<4xf32> loc("f":2:2)) -> tensor<4xf32> {
    relay.yield %a : tensor<4xf32>
  }
  %r = relay.primitive(%p = %x : tensor<4xf32> loc("f":3:3)) -> (tensor<4xf32>) {
    relay.yield %p : tensor<4xf32>
  }
  %m = relay.match %t : tuple<tensor<4xf32>, tensor<i1>> -> (tensor<4xf32>) {
    case (%l: tensor<4xf32> loc("f":4:4), _) {
      relay.yield %l : tensor<4xf32>
    }
  }
  func.return
}
