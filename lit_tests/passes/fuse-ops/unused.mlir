// RUN: xrelay-opt -p fuse-ops %s | filecheck %s
// RUN: xrelay-opt -p vm %s | filecheck %s --check-prefix=RUNS
// RUN: xrelay-opt -p aot %s | filecheck %s --check-prefix=RUNS

// An operator whose result is unused is not computed, and what only it reads is not, too. So it does
// not fail, neither in the machine nor as machine code.
//
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[Y:.*]] = relay.if %c
// CHECK-NEXT:      %[[R:.*]] = relay.primitive(%[[X:.*]] = %x :
// CHECK-NEXT:        relay.nn.relu %[[X]]
// CHECK-NEXT:        relay.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      relay.yield %[[R]]
// RUNS-NOT:      relay.add
// RUNS-NOT:      dyn.tile
func.func @main(
    %c: tensor<i1>, %x: tensor<?xf32>, %z: tensor<?xf32>, %s: tensor<1xi64>
) -> tensor<?xf32> {
  %a = relay.add %x, %z : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %y = relay.if %c : tensor<i1> -> (tensor<?xf32>) {
    %b = relay.dyn.tile %a, %s : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
    %r = relay.nn.relu %x : (tensor<?xf32>) -> tensor<?xf32>
    relay.yield %r : tensor<?xf32>
  } else {
    relay.yield %x : tensor<?xf32>
  }
  func.return %y : tensor<?xf32>
}
