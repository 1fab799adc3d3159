// RUN: xrelay-opt --split-input-file -p infer-types %s | filecheck %s

// A match gives what its cases yield.
//
// CHECK-LABEL: @match
// CHECK:         relay.match %{{.*}} -> (tensor<4xf32>)
relay.type_data @Box [@Box(tensor<4xf32>), @Empty()]
func.func @match(%b: !relay.adt<@Box, []>, %x: tensor<4xf32>) -> !relay.incomplete {
  %r = relay.match %b : !relay.adt<@Box, []> -> (!relay.incomplete) {
    case @Box::@Box(%y: tensor<4xf32>) {
      %n = relay.negative %y : (tensor<4xf32>) -> !relay.incomplete
      relay.yield %n : !relay.incomplete
    }
    case _ {
      relay.yield %x : tensor<4xf32>
    }
  }
  func.return %r : !relay.incomplete
}

// -----

// A closure's result follows from its body, a call's from the callee.
//
// CHECK-LABEL: @closure
// CHECK:         relay.fn (%a: tensor<4xf32>) -> tensor<2x2xf32>
// CHECK:         relay.call %{{.*}} : (tensor<4xf32>) -> tensor<2x2xf32>
// CHECK:         relay.ref_read %{{.*}} : (!relay.ref<tensor<2x2xf32>>) -> tensor<2x2xf32>
func.func @closure(%x: tensor<4xf32>) -> !relay.incomplete {
  %f = relay.fn (%a: tensor<4xf32>) -> !relay.incomplete {
    %r = relay.reshape %a {newshape = array<i64: 2, 2>} : (tensor<4xf32>) -> !relay.incomplete
    relay.yield %r : !relay.incomplete
  }
  %y = relay.call %f(%x) : (tensor<4xf32>) -> !relay.incomplete
  %c = relay.ref_create %y : (!relay.incomplete) -> !relay.incomplete
  %z = relay.ref_read %c : (!relay.incomplete) -> !relay.incomplete
  func.return %z : !relay.incomplete
}

// -----

// A match without cases gives what is declared.
//
// CHECK-LABEL: @no_case
// CHECK:         relay.match %{{.*}} -> (tensor<4xf32>) {
// CHECK:         relay.negative %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
relay.type_data @Never []
func.func @no_case(%b: !relay.adt<@Never, []>) -> !relay.incomplete {
  %r = relay.match %b : !relay.adt<@Never, []> -> (tensor<4xf32>) {
  }
  %n = relay.negative %r : (tensor<4xf32>) -> !relay.incomplete
  func.return %n : !relay.incomplete
}
