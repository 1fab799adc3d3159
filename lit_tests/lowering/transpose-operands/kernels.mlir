// RUN: xrelay-opt --split-input-file -p transpose-operands %s | filecheck %s

// A right operand whose columns are not contiguous is transposed by a loop on tensors, which is in the tiles of the product.
//
// CHECK-LABEL: @by_rows
// CHECK-NOT:     memref.alloc
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<32x16xf32>) outs(%{{.*}} : tensor<16x32xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[T]] : tensor<8x16xf32>, tensor<16x32xf32>)
func.func private @by_rows(%mx: memref<8x16xf32>, %mw: memref<32x16xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x16xf32> to tensor<8x16xf32>
  %w = bufferization.to_tensor %mw restrict : memref<32x16xf32> to tensor<32x16xf32>
  %se = tensor.empty() : tensor<8x32xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<8x32xf32>) -> tensor<8x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<8x16xf32>, tensor<32x16xf32>) outs(%s0 : tensor<8x32xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<8x32xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  func.return
}

// -----

// If the last columns are not a whole tile, it is transposed whole, into a buffer.
//
// CHECK-LABEL: @ragged_columns
// CHECK:         %[[T:.*]] = memref.alloc() : memref<16x36xf32>
// CHECK:         linalg.generic {{.*}} outs(%[[T]] : memref<16x36xf32>) attrs ={{ *}}{xrelay.transposing}
// CHECK:         %[[W:.*]] = bufferization.to_tensor %[[T]] restrict
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<8x16xf32>, tensor<16x36xf32>)
func.func private @ragged_columns(%mx: memref<8x16xf32>, %mw: memref<36x16xf32>, %out: memref<8x36xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x16xf32> to tensor<8x16xf32>
  %w = bufferization.to_tensor %mw restrict : memref<36x16xf32> to tensor<36x16xf32>
  %se = tensor.empty() : tensor<8x36xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<8x36xf32>) -> tensor<8x36xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<8x16xf32>, tensor<36x16xf32>) outs(%s0 : tensor<8x36xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<8x36xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<8x36xf32>, memref<8x36xf32>) -> ()
  func.return
}

// -----

// Of a wide matrix, each vector of a column is in a page of its own: many rows read a copy, in tiles.
//
// CHECK-LABEL: @wide
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<64x512xf32>) outs(%{{.*}} : tensor<64x512xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[T]] : tensor<48x64xf32>, tensor<64x512xf32>)
func.func private @wide(%mx: memref<48x64xf32>, %mw: memref<64x512xf32>, %out: memref<48x512xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<48x64xf32> to tensor<48x64xf32>
  %w = bufferization.to_tensor %mw restrict : memref<64x512xf32> to tensor<64x512xf32>
  %se = tensor.empty() : tensor<48x512xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<48x512xf32>) -> tensor<48x512xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<48x64xf32>, tensor<64x512xf32>) outs(%s0 : tensor<48x512xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<48x512xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<48x512xf32>, memref<48x512xf32>) -> ()
  func.return
}

// -----

// Few rows read it as it is.
//
// CHECK-LABEL: @few_rows
// CHECK-NOT:     outs(%{{.*}} : tensor<64x512xf32>)
// CHECK:         func.return
func.func private @few_rows(%mx: memref<8x64xf32>, %mw: memref<64x512xf32>, %out: memref<8x512xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x64xf32> to tensor<8x64xf32>
  %w = bufferization.to_tensor %mw restrict : memref<64x512xf32> to tensor<64x512xf32>
  %se = tensor.empty() : tensor<8x512xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<8x512xf32>) -> tensor<8x512xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<8x64xf32>, tensor<64x512xf32>) outs(%s0 : tensor<8x512xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<8x512xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<8x512xf32>, memref<8x512xf32>) -> ()
  func.return
}

// -----

// One whose columns are contiguous is read as it is.
//
// CHECK-LABEL: @by_columns
// CHECK-NOT:     memref.alloc
// CHECK:         func.return
func.func private @by_columns(%mx: memref<8x16xf32>, %mw: memref<16x32xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x16xf32> to tensor<8x16xf32>
  %w = bufferization.to_tensor %mw restrict : memref<16x32xf32> to tensor<16x32xf32>
  %se = tensor.empty() : tensor<8x32xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<8x32xf32>) -> tensor<8x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%s0 : tensor<8x32xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<8x32xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  func.return
}

// -----

// If the columns are open, a loop on tensors transposes them, in the tiles of the product.
//
// CHECK-LABEL: @open_columns
// CHECK-NOT:     memref.alloc
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<?x16xf32>) outs(%{{.*}} : tensor<16x?xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[T]] : tensor<8x16xf32>, tensor<16x?xf32>)
func.func private @open_columns(%mx: memref<8x16xf32>, %mw: memref<?x16xf32>, %out: memref<8x?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x16xf32> to tensor<8x16xf32>
  %w = bufferization.to_tensor %mw restrict : memref<?x16xf32> to tensor<?x16xf32>
  %c = arith.constant 0 : index
  %n = tensor.dim %w, %c : tensor<?x16xf32>
  %se = tensor.empty(%n) : tensor<8x?xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<8x?xf32>) -> tensor<8x?xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<8x16xf32>, tensor<?x16xf32>) outs(%s0 : tensor<8x?xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<8x?xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<8x?xf32>, memref<8x?xf32>) -> ()
  func.return
}
