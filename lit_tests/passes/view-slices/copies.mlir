// RUN: xrelay-opt --split-input-file -p infer-types,plan-devices,fuse-ops,outline-primitives,create-shape-functions,manifest-alloc,simplify-shapes,view-slices,remove-dead-writes %s | filecheck %s

// What a function returns has memory of its own.
//
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     vm.slice_tensor
// CHECK:         vm.invoke_tvm_op @fused_strided_slice
// CHECK-NOT:     vm.slice_tensor
// CHECK:         func.return
func.func @returned(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %a = relay.strided_slice %x {begin = array<i64: 2>, end = array<i64: 5>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  func.return %a : tensor<3x4xf32>
}

// -----

// A small slice does not keep a large tensor, if then more bytes are live at once.
//
// CHECK-LABEL: func.func @small
// CHECK-NOT:     vm.slice_tensor
// CHECK:         vm.invoke_tvm_op @fused_strided_slice
// CHECK-NOT:     vm.slice_tensor
// CHECK:         func.return
func.func @small(%x: tensor<64x4xf32>, %w: tensor<64x64xf32>) -> (tensor<1x4xf32>, tensor<64x64xf32>) {
  %a = relay.nn.softmax %x : (tensor<64x4xf32>) -> tensor<64x4xf32>
  %b = relay.strided_slice %a {begin = array<i64: 0>, end = array<i64: 1>} : (tensor<64x4xf32>) -> tensor<1x4xf32>
  %c = relay.nn.dense %w, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = relay.nn.dense %c, %c : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = relay.nn.dense %d, %d : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = relay.nn.softmax %b : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %f, %e : tensor<1x4xf32>, tensor<64x64xf32>
}

// -----

// Columns are not contiguous, nor is every second row, nor are rows of two axes.
//
// CHECK-LABEL: func.func @apart
// CHECK-NOT:     vm.slice_tensor
// CHECK:         vm.invoke_tvm_op @fused_strided_slice
// CHECK-NOT:     vm.slice_tensor
// CHECK:         func.return
func.func @apart(%x: tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<4x4xf32>, tensor<4x2xf32>) {
  %a = relay.strided_slice %x {begin = array<i64: 1>, end = array<i64: 3>, axes = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<8x2xf32>
  %b = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 8>, strides = array<i64: 2>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %c = relay.strided_slice %x {begin = array<i64: 0, 0>, end = array<i64: 4, 2>} : (tensor<8x4xf32>) -> tensor<4x2xf32>
  %d = relay.nn.softmax %a : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %e = relay.nn.softmax %b : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = relay.nn.softmax %c : (tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %d, %e, %f : tensor<8x2xf32>, tensor<4x4xf32>, tensor<4x2xf32>
}

// -----

// Rows from the end of an open dim begin where only the run knows.
//
// CHECK-LABEL: func.func @from_the_end
// CHECK-NOT:     vm.slice_tensor
// CHECK:         vm.invoke_tvm_op @fused_strided_slice
// CHECK-NOT:     vm.slice_tensor
// CHECK:         func.return
func.func @from_the_end(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}) -> tensor<?x4xf32> {
  %a = relay.strided_slice %x {begin = array<i64: -2>, end = array<i64: 9223372036854775807>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relay.nn.softmax %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %b : tensor<?x4xf32>
}
