// RUN: xrelay-opt --split-input-file -p lower-qnn %s | filecheck %s

// A zero point is subtracted from i32 numbers, unless it is the constant 0.
//
// CHECK-LABEL: @dequantized
// CHECK-NEXT:    %[[S:.*]] = relay.constant dense<5.0{{.*}}>
// CHECK-NEXT:    relay.constant dense<0>
// CHECK-NEXT:    %[[W:.*]] = relay.cast %x {dtype = i32}
// CHECK-NEXT:    %[[D:.*]] = relay.subtract %[[W]], %z
// CHECK-NEXT:    %[[F:.*]] = relay.cast %[[D]] {dtype = f32}
// CHECK-NEXT:    relay.multiply %[[F]], %[[S]]
// CHECK-NEXT:    %[[V:.*]] = relay.cast %x {dtype = i32}
// CHECK-NEXT:    %[[G:.*]] = relay.cast %[[V]] {dtype = f32}
// CHECK-NEXT:    relay.multiply %[[G]], %[[S]]
func.func @dequantized(%x: tensor<4xui8>, %z: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.constant dense<0> : tensor<i32>
  %a = qnn.dequantize %x, %s, %z : (tensor<4xui8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %b = qnn.dequantize %x, %s, %0 : (tensor<4xui8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Scales along an axis are broadcast along it.
//
// CHECK-LABEL: @along
// CHECK:         relay.expand_dims %s {axis = 1 : i64} : (tensor<3xf32>) -> tensor<3x1xf32>
func.func @along(%x: tensor<2x3x4xi8>, %s: tensor<3xf32>, %z: tensor<i32>) -> tensor<2x3x4xf32> {
  %y = qnn.dequantize %x, %s, %z {axis = 1} : (tensor<2x3x4xi8>, tensor<3xf32>, tensor<i32>) -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

// -----

// A quotient of 3/4 is 3 * 2^29 of 31 bits; halves are rounded up.
//
// CHECK-LABEL: @requantized
// CHECK:         %[[W:.*]] = relay.cast %x {dtype = i64}
// CHECK-NEXT:    %[[M:.*]] = relay.constant dense<1610612736> : tensor<i64>
// CHECK-NEXT:    %[[P:.*]] = relay.multiply %[[W]], %[[M]]
// CHECK-NEXT:    %[[H:.*]] = relay.constant dense<1073741824> : tensor<i64>
// CHECK-NEXT:    %[[R:.*]] = relay.add %[[P]], %[[H]]
// CHECK-NEXT:    %[[N:.*]] = relay.constant dense<31> : tensor<i64>
// CHECK-NEXT:    %[[Q:.*]] = relay.right_shift %[[R]], %[[N]]
// CHECK-NEXT:    %[[I:.*]] = relay.cast %[[Q]] {dtype = i32}
// CHECK-NEXT:    %[[C:.*]] = relay.clip %[[I]] {a_min = -1.28{{.*}}, a_max = 1.27{{.*}}}
// CHECK-NEXT:    relay.cast %[[C]] {dtype = i8}
func.func @requantized(%x: tensor<4xi32>) -> tensor<4xi8> {
  %s = relay.constant dense<3.0> : tensor<f32>
  %t = relay.constant dense<4.0> : tensor<f32>
  %0 = relay.constant dense<0> : tensor<i32>
  %y = qnn.requantize %x, %s, %0, %t, %0 : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// -----

// Of one scale and zero point, numbers are added as they are.
//
// CHECK-LABEL: @equal_scales
// CHECK-NOT:     relay.right_shift
// CHECK:         %[[SUM:.*]] = relay.add
// CHECK-NEXT:    %[[Y:.*]] = relay.subtract %[[SUM]], %{{.*}}
// CHECK-NEXT:    relay.clip %[[Y]] {a_min = 0.0{{.*}}, a_max = 2.55{{.*}}}
func.func @equal_scales(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %r = qnn.add %x, %y, %s, %z, %s, %z, %s, %z : (tensor<4xui8>, tensor<4xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xui8>
  func.return %r : tensor<4xui8>
}

// -----

// Products are of differences to zero points; those of weights may be along their filters.
//
// CHECK-LABEL: @products
// CHECK:         %[[X:.*]] = relay.subtract %{{.*}}, %z
// CHECK:         relay.expand_dims %w_zero {axis = 1 : i64, num_newaxis = 3 : i64}
// CHECK-NEXT:    %[[W:.*]] = relay.subtract
// CHECK-NEXT:    relay.nn.conv2d %[[X]], %[[W]] {padding = array<i64: 1, 1, 1, 1>} : {{.*}} -> tensor<1x2x4x4xi32>
func.func @products(%x: tensor<1x3x4x4xui8>, %w: tensor<2x3x3x3xi8>, %z: tensor<i32>, %w_zero: tensor<2xi32>, %s: tensor<f32>) -> tensor<1x2x4x4xi32> {
  %y = qnn.conv2d %x, %w, %z, %w_zero, %s, %s {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x4x4xui8>, tensor<2x3x3x3xi8>, tensor<i32>, tensor<2xi32>, tensor<f32>, tensor<f32>) -> tensor<1x2x4x4xi32>
  func.return %y : tensor<1x2x4x4xi32>
}
