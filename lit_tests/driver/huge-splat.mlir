// RUN: xrelay-opt -p vm %s | filecheck %s

// One value for all elements is kept as one value, however large the type.
//
// CHECK: bytecode.constant @const_0 dense<1.000000e+00> : tensor<1000000000x1000000000xf32>
func.func @main() -> tensor<1000000000x1000000000xf32> {
  %y = relay.constant dense<1.0> : tensor<1000000000x1000000000xf32>
  func.return %y : tensor<1000000000x1000000000xf32>
}
