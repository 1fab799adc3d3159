// RUN: xrelay-opt --split-input-file -p write-transposed %s | filecheck %s

// A kernel that is one transposition is a loop on buffers.
//
// CHECK-LABEL: @transposition
// CHECK:         %[[X:.*]] = bufferization.to_buffer
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : memref<32x20xf32>) outs(%out : memref<20x32xf32>) attrs ={{ *}}{xrelay.transposing}
// CHECK-NOT:     materialize_in_destination
// CHECK:         func.return
func.func private @transposition(%mx: memref<32x20xf32>, %out: memref<20x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<32x20xf32> to tensor<32x20xf32>
  %e = tensor.empty() : tensor<20x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<32x20xf32>) outs(%e : tensor<20x32xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<20x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<20x32xf32>, memref<20x32xf32>) -> ()
  func.return
}

// -----

// One whose dims are shorter than a square stays on tensors.
//
// CHECK-LABEL: @short
// CHECK-NOT:     xrelay.transposing
// CHECK:         materialize_in_destination
func.func private @short(%mx: memref<32x8xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<32x8xf32> to tensor<32x8xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<32x8xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<8x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  func.return
}

// -----

// An open dim may be as long as squares are.
//
// CHECK-LABEL: @open_dim
// CHECK:         linalg.generic {{.*}} outs(%out : memref<20x?xf32>) attrs ={{ *}}{xrelay.transposing}
func.func private @open_dim(%mx: memref<?x20xf32>, %out: memref<20x?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x20xf32> to tensor<?x20xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x20xf32>
  %e = tensor.empty(%n) : tensor<20x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<?x20xf32>) outs(%e : tensor<20x?xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<20x?xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<20x?xf32>, memref<20x?xf32>) -> ()
  func.return
}
