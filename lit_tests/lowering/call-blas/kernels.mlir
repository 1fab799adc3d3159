// RUN: xrelay-opt --split-input-file -p call-blas %s | filecheck %s

// A product calls the library with the operands' addresses; a loop reads what it computed.
//
// CHECK-LABEL: @product
// CHECK-NOT:     "reduction"
// CHECK:         %[[C:.*]] = memref.alloc() : memref<8x32xf32>
// CHECK:         func.call @xrelay_sgemm({{.*}}) : (index, index, index, index, index, index, index, index, index, index, index) -> ()
// CHECK:         %[[P:.*]] = bufferization.to_tensor %[[C]] restrict
// CHECK:         linalg.generic {{.*}} ins(%[[P]] : tensor<8x32xf32>)
// CHECK:       func.func private @xrelay_sgemm(index
func.func private @product(%mx: memref<8x16xf32>, %mw: memref<16x32xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel} {
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
  %f = tensor.empty() : tensor<8x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%p : tensor<8x32xf32>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.negf %e0 : f32
    linalg.yield %v : f32
  } -> tensor<8x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  func.return
}

// -----

// A product that is the kernel's result is computed in its place.
//
// CHECK-LABEL: @result
// CHECK-NOT:     memref.alloc
// CHECK:         memref.extract_aligned_pointer_as_index %out
// CHECK:         func.call @xrelay_sgemm
func.func private @result(%mx: memref<8x16xf32>, %mw: memref<16x32xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel} {
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
