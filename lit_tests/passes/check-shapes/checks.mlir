// RUN: xrelay-opt --split-input-file -p check-shapes %s | filecheck %s

// Dims that the operator's rule requires to be equal are checked.
//
// CHECK-LABEL: @reduced_dims
// CHECK:         %[[S:.*]] = vm.shape_of %x
// CHECK:         %[[K:.*]] = tensor.extract %[[S]][%{{.*}}] : tensor<2xi64>
// CHECK:         relay.require eq %[[K]], %{{.*}}, "relay.nn.dense of
// CHECK-NEXT:    relay.nn.dense
func.func @reduced_dims(%x: tensor<2x?xf32>, %w: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<2x?xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// -----

// A dim that the declared type knows, and the rule does not, is checked.
//
// CHECK-LABEL: @declared_dims
// CHECK:         relay.require eq %{{.*}}, %{{.*}}, "relay.exp of tensor<{0}xf32>: dim 0 of result 0 is {0}, but is declared as {1}"
func.func @declared_dims(%x: tensor<?xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// What needs no check is left alone, of known dims or not.
//
// CHECK-LABEL: @nothing_to_check
// CHECK-NEXT:    relay.exp
// CHECK-NEXT:    relay.add
// CHECK-NEXT:    func.return
func.func @nothing_to_check(%x: tensor<?xf32>, %y: tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>) {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = relay.add %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<?xf32>, tensor<4xf32>
}
