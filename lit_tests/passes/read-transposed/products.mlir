// RUN: xrelay-opt --split-input-file -p read-transposed %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p read-transposed,read-transposed,infer-types,plan-devices,fuse-ops %s | filecheck %s --check-prefix FUSED

// A product reads the heads of its right operand where they are, in its own kernel.
//
// CHECK-LABEL: @heads
// CHECK-NEXT:    %[[V:.*]] = relay.reshape %v {newshape = array<i64: -1, 4, 8>} : (tensor<?x1x4x8xf32>) -> tensor<?x4x8xf32>
// CHECK-NEXT:    %[[T:.*]] = relay.transpose %[[V]] {relay.fused, axes = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32>
// CHECK-NEXT:    relay.nn.batch_matmul %p, %[[T]]
//
// FUSED-LABEL: @heads
// FUSED:         relay.reshape
// FUSED:         relay.primitive
// FUSED-NEXT:      relay.transpose
// FUSED-NEXT:      relay.nn.batch_matmul
func.func @heads(%p: tensor<4x2x?xf32>, %v: tensor<?x1x4x8xf32>) -> tensor<4x2x8xf32> {
  %t = relay.transpose %v {axes = array<i64: 1, 2, 0, 3>} : (tensor<?x1x4x8xf32>) -> tensor<1x4x?x8xf32>
  %r = relay.reshape %t {newshape = array<i64: -3, -2>} : (tensor<1x4x?x8xf32>) -> tensor<4x?x8xf32>
  %y = relay.nn.batch_matmul %p, %r {transpose_b = false} : (tensor<4x2x?xf32>, tensor<4x?x8xf32>) -> tensor<4x2x8xf32>
  func.return %y : tensor<4x2x8xf32>
}

// -----

// What computes the operand is not in the kernel of the product, which would compute it for each row.
//
// FUSED-LABEL: @bias
// FUSED:         relay.primitive
// FUSED-NEXT:      relay.add
// FUSED-NEXT:      relay.reshape
// FUSED-NEXT:      relay.yield
// FUSED:         relay.primitive
// FUSED-NEXT:      relay.transpose
// FUSED-NEXT:      relay.nn.batch_matmul
func.func @bias(%p: tensor<4x2x8xf32>, %v: tensor<8x32xf32>, %b: tensor<32xf32>) -> tensor<4x2x8xf32> {
  %a = relay.add %v, %b : (tensor<8x32xf32>, tensor<32xf32>) -> tensor<8x32xf32>
  %r = relay.reshape %a {newshape = array<i64: 8, 4, 8>} : (tensor<8x32xf32>) -> tensor<8x4x8xf32>
  %t = relay.transpose %r {axes = array<i64: 1, 0, 2>} : (tensor<8x4x8xf32>) -> tensor<4x8x8xf32>
  %y = relay.nn.batch_matmul %p, %t {transpose_b = false} : (tensor<4x2x8xf32>, tensor<4x8x8xf32>) -> tensor<4x2x8xf32>
  func.return %y : tensor<4x2x8xf32>
}

// -----

// Keys of open number are transposed in the kernel of the product, in the order in which they are.
//
// CHECK-LABEL: @keys
// CHECK-NEXT:    %[[K:.*]] = relay.reshape %k {newshape = array<i64: -1, 4, 16>} : (tensor<?x1x4x16xf32>) -> tensor<?x4x16xf32>
// CHECK-NEXT:    %[[T:.*]] = relay.transpose %[[K]] {relay.fused, axes = array<i64: 1, 2, 0>} : (tensor<?x4x16xf32>) -> tensor<4x16x?xf32>
// CHECK-NEXT:    relay.nn.batch_matmul %q, %[[T]]
func.func @keys(%q: tensor<4x2x16xf32>, %k: tensor<?x1x4x16xf32>) -> tensor<4x2x?xf32> {
  %t = relay.transpose %k {axes = array<i64: 1, 2, 3, 0>} : (tensor<?x1x4x16xf32>) -> tensor<1x4x16x?xf32>
  %r = relay.reshape %t {newshape = array<i64: -3, -2>} : (tensor<1x4x16x?xf32>) -> tensor<4x16x?xf32>
  %y = relay.nn.batch_matmul %q, %r {transpose_b = false} : (tensor<4x2x16xf32>, tensor<4x16x?xf32>) -> tensor<4x2x?xf32>
  func.return %y : tensor<4x2x?xf32>
}

// -----

// Other columns that are not contiguous are copied, and so is what others read, too.
//
// CHECK-LABEL: @columns
// CHECK-NOT:     relay.fused
func.func @columns(%p: tensor<4x2x8xf32>, %k: tensor<?x4x8xf32>, %q: tensor<4x2x?xf32>) -> (tensor<4x2x?xf32>, tensor<4x2x8xf32>, tensor<4x?x8xf32>) {
  %t = relay.transpose %k {axes = array<i64: 1, 2, 0>} : (tensor<?x4x8xf32>) -> tensor<4x8x?xf32>
  %y = relay.nn.batch_matmul %p, %t {transpose_b = false} : (tensor<4x2x8xf32>, tensor<4x8x?xf32>) -> tensor<4x2x?xf32>
  %r = relay.transpose %k {axes = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32>
  %z = relay.nn.batch_matmul %q, %r {transpose_b = false} : (tensor<4x2x?xf32>, tensor<4x?x8xf32>) -> tensor<4x2x8xf32>
  func.return %y, %z, %r : tensor<4x2x?xf32>, tensor<4x2x8xf32>, tensor<4x?x8xf32>
}

// -----

// An operand that is not transposed stays.
//
// CHECK-LABEL: @plain
// CHECK-NEXT:    relay.nn.batch_matmul %p, %v
func.func @plain(%p: tensor<4x2x?xf32>, %v: tensor<4x?x8xf32>) -> tensor<4x2x8xf32> {
  %y = relay.nn.batch_matmul %p, %v {transpose_b = false} : (tensor<4x2x?xf32>, tensor<4x?x8xf32>) -> tensor<4x2x8xf32>
  func.return %y : tensor<4x2x8xf32>
}
