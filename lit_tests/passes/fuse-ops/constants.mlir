// RUN: xrelay-opt --split-input-file -p fuse-ops %s | filecheck %s

// A scalar constant moves into each primitive that uses it, and is removed outside.
//
// CHECK-LABEL: @scalar
// CHECK-NEXT:    %[[A:.*]] = relay.primitive(%[[X:.*]] = %x : tensor<4xf32>) -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[C:.*]] = relay.constant dense<2.000000e+00>
// CHECK-NEXT:      relay.multiply %[[X]], %[[C]]
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%[[Y:.*]] = %[[A]] : tensor<4xf32>) -> (tensor<f32>) {
// CHECK-NEXT:      %[[D:.*]] = relay.constant dense<2.000000e+00>
// CHECK-NEXT:      %[[P:.*]] = relay.power %[[Y]], %[[D]]
// CHECK-NEXT:      relay.sum %[[P]]
func.func @scalar(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %c = relay.constant dense<2.0> : tensor<f32>
  %a = relay.multiply %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %p = relay.power %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = relay.sum %p : (tensor<4xf32>) -> tensor<f32>
  func.return %a, %b : tensor<4xf32>, tensor<f32>
}

// -----

// A scalar constant with another use stays outside too.
//
// CHECK-LABEL: @scalar_used_outside
// CHECK-NEXT:    %[[C:.*]] = relay.constant
// CHECK-NEXT:    relay.primitive(%{{[^=]*}} = %x : tensor<4xf32>)
// CHECK-NEXT:      relay.constant
// CHECK:         func.return %{{.*}}, %[[C]]
func.func @scalar_used_outside(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %c = relay.constant dense<2.0> : tensor<f32>
  %a = relay.multiply %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %a, %c : tensor<4xf32>, tensor<f32>
}

// -----

// Other constants and params are operands.
//
// CHECK-LABEL: @tensors
// CHECK:         %[[C:.*]] = relay.constant
// CHECK:         %[[P:.*]] = relay.param
// CHECK-NEXT:    relay.primitive(%{{[^=]*}} = %[[C]] : tensor<4xf32>, %{{[^=]*}} = %[[P]] : tensor<4xf32>)
// CHECK-NEXT:      relay.add
func.func @tensors() -> tensor<4xf32> {
  %c = relay.constant dense<2.0> : tensor<4xf32>
  %p = relay.param "b" : tensor<4xf32>
  %a = relay.add %c, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
