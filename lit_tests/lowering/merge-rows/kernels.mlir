// RUN: xrelay-opt --split-input-file -p merge-rows %s | filecheck %s

// Rows of all sequences are rows of one matrix: of the operand, of the residual, and of the result.
//
// CHECK-LABEL: @product_and_residual
// CHECK-NEXT:    %[[OUT:.*]] = memref.collapse_shape %out {{\[\[}}0 : i64, 1 : i64], [2 : i64]] : memref<?x?x16xf32> into memref<?x16xf32>
// CHECK:         %[[X:.*]] = tensor.collapse_shape %x {{.*}} : tensor<?x?x8xf32> into tensor<?x8xf32>
// CHECK:         %[[N:.*]] = arith.muli
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x16xf32>
// CHECK:         %[[F:.*]] = linalg.fill ins(%{{.*}}) outs(%[[E]]
// CHECK:         %[[P:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %w : {{.*}}) outs(%[[F]] :
// CHECK:         %[[Y:.*]] = tensor.collapse_shape %y {{.*}} : tensor<?x?x16xf32> into tensor<?x16xf32>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[Y]], %b :
// CHECK:         bufferization.materialize_in_destination %[[R]] in restrict writable %[[OUT]]
func.func private @product_and_residual(%mx: memref<?x?x8xf32>, %mw: memref<8x16xf32>, %my: memref<?x?x16xf32>, %mb: memref<16xf32>, %out: memref<?x?x16xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x?x8xf32> to tensor<?x?x8xf32>
  %w = bufferization.to_tensor %mw restrict : memref<8x16xf32> to tensor<8x16xf32>
  %y = bufferization.to_tensor %my restrict : memref<?x?x16xf32> to tensor<?x?x16xf32>
  %b = bufferization.to_tensor %mb restrict : memref<16xf32> to tensor<16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, t, j, k) -> (i, t, k)>, affine_map<(i, t, j, k) -> (k, j)>, affine_map<(i, t, j, k) -> (i, t, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x?x8xf32>, tensor<8x16xf32>) outs(%f : tensor<?x?x16xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %t = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %t : f32
    linalg.yield %v : f32
  } -> tensor<?x?x16xf32>
  %g = tensor.empty(%n, %m) : tensor<?x?x16xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, t, j) -> (i, t, j)>, affine_map<(i, t, j) -> (i, t, j)>, affine_map<(i, t, j) -> (j)>, affine_map<(i, t, j) -> (i, t, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]
    } ins(%p, %y, %b : tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<16xf32>) outs(%g : tensor<?x?x16xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32, %e3: f32):
    %s = arith.addf %e0, %e1 : f32
    %v = arith.addf %s, %e2 : f32
    linalg.yield %v : f32
  } -> tensor<?x?x16xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x?x16xf32>, memref<?x?x16xf32>) -> ()
  func.return
}

// -----

// Each sequence has a matrix of its own.
//
// CHECK-LABEL: @product_of_batches
// CHECK-NOT:     collapse_shape
func.func private @product_of_batches(%mx: memref<?x?x8xf32>, %mw: memref<?x8x16xf32>, %out: memref<?x?x16xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x?x8xf32> to tensor<?x?x8xf32>
  %w = bufferization.to_tensor %mw restrict : memref<?x8x16xf32> to tensor<?x8x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, t, j, k) -> (i, t, k)>, affine_map<(i, t, j, k) -> (i, k, j)>, affine_map<(i, t, j, k) -> (i, t, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x?x8xf32>, tensor<?x8x16xf32>) outs(%f : tensor<?x?x16xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %t = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %t : f32
    linalg.yield %v : f32
  } -> tensor<?x?x16xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<?x?x16xf32>, memref<?x?x16xf32>) -> ()
  func.return
}

// -----

// Tiles have rows of several lines where both sizes are known; one of 1 is no loop.
//
// CHECK-LABEL: @one_sequence
// CHECK-NOT:     collapse_shape
func.func private @one_sequence(%mx: memref<1x?x8xf32>, %mw: memref<8x16xf32>, %out: memref<1x?x16xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<1x?x8xf32> to tensor<1x?x8xf32>
  %w = bufferization.to_tensor %mw restrict : memref<8x16xf32> to tensor<8x16xf32>
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<1x?x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<1x?x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x?x16xf32>) -> tensor<1x?x16xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, t, j, k) -> (i, t, k)>, affine_map<(i, t, j, k) -> (k, j)>, affine_map<(i, t, j, k) -> (i, t, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<1x?x8xf32>, tensor<8x16xf32>) outs(%f : tensor<1x?x16xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %t = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %t : f32
    linalg.yield %v : f32
  } -> tensor<1x?x16xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<1x?x16xf32>, memref<1x?x16xf32>) -> ()
  func.return
}
