// RUN: xrelay-opt --split-input-file -p widen-narrow-types %s | filecheck %s

// An operator on bf16 computes in f32, and its result is rounded.
//
// CHECK-LABEL: @computes_in_f32
// CHECK:         %[[C:.*]] = relay.cast %c {dtype = f32}
// CHECK-NEXT:    %[[X:.*]] = relay.cast %x {dtype = f32}
// CHECK-NEXT:    %[[S:.*]] = relay.add %[[C]], %[[X]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    relay.cast %[[S]] {dtype = bf16} : (tensor<4xf32>) -> tensor<4xbf16>
func.func @computes_in_f32(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> tensor<4xbf16> {
  %c = relay.cast %y {dtype = bf16} : (tensor<4xf32>) -> tensor<4xbf16>
  %z = relay.add %c, %x : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  func.return %z : tensor<4xbf16>
}

// -----

// A reshape, and a conversion from f32, stay.
//
// CHECK-LABEL: @stays
// CHECK-NEXT:    %[[C:.*]] = relay.cast %x {dtype = bf16} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT:    relay.reshape %[[C]]
// CHECK-SAME:      (tensor<4xbf16>) -> tensor<2x2xbf16>
func.func @stays(%x: tensor<4xf32>) -> tensor<2x2xbf16> {
  %c = relay.cast %x {dtype = bf16} : (tensor<4xf32>) -> tensor<4xbf16>
  %y = relay.reshape %c {newshape = array<i64: 2, 2>} : (tensor<4xbf16>) -> tensor<2x2xbf16>
  func.return %y : tensor<2x2xbf16>
}

// -----

// A conversion from another type goes through f32, an attribute that names bf16 becomes f32.
//
// CHECK-LABEL: @converts_through_f32
// CHECK-NEXT:    %[[W:.*]] = relay.cast %n {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:    relay.cast %[[W]] {dtype = bf16}
func.func @converts_through_f32(%n: tensor<4xi32>) -> tensor<4xbf16> {
  %y = relay.cast %n {dtype = bf16} : (tensor<4xi32>) -> tensor<4xbf16>
  func.return %y : tensor<4xbf16>
}

// -----

// Floats of 8 bits compute in f32, integers of 4 bits in i8; floats are limited to their numbers.
//
// CHECK-LABEL: @other_types
// CHECK-NEXT:    %[[W:.*]] = relay.cast %x {dtype = f32} : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
// CHECK-NEXT:    %[[L:.*]] = relay.clip %[[W]] {a_min = -8.{{.*}}, a_max = 7.{{.*}}}
// CHECK-NEXT:    %[[B:.*]] = relay.cast %[[L]] {dtype = i8}
// CHECK-NEXT:    relay.cast %[[B]] {dtype = i4} : (tensor<4xi8>) -> tensor<4xi4>
func.func @other_types(%x: tensor<4xf8E4M3FN>) -> tensor<4xi4> {
  %y = relay.cast %x {dtype = i4} : (tensor<4xf8E4M3FN>) -> tensor<4xi4>
  func.return %y : tensor<4xi4>
}
