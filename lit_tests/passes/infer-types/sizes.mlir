// RUN: xrelay-opt -p infer-types %s | filecheck %s

// A dim is known if the size that it is read from is a constant.
//
// CHECK-LABEL: @made_of_sizes
// CHECK:         relay.dyn.zeros %{{.*}} : (tensor<2xi64>) -> tensor<?x768xf32>
func.func @made_of_sizes(%n: i64) -> tensor<?x?xf32> {
  %c = arith.constant 768 : i64
  %s = tensor.from_elements %n, %c : tensor<2xi64>
  %y = relay.dyn.zeros %s {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}
