// RUN: xrelay-opt -p 'choose-schedules{target="x86_64-linux-gnu" cpu="x86-64-v4"}' %s | filecheck %s --check-prefix=V4
// RUN: xrelay-opt -p 'choose-schedules{target="x86_64-linux-gnu" cpu="x86-64-v3"}' %s | filecheck %s --check-prefix=V3

// A tile has two vectors of a row: of two panels where one vector is as wide as a panel. Vectors of
// panels are prefetched.
//
// V4-LABEL: @product
// V4-SAME:    kind = "register-tile", sizes = array<i64: 8, 2, 16>{{.*}}}, {kind = "prefetch"}]
// V3-LABEL: @product
// V3-SAME:    kind = "register-tile", sizes = array<i64: 6, 1, 16>{{.*}}}, {kind = "prefetch"}]
func.func private @product(%mx: memref<?x32xf32>, %mw: memref<4x32x16xf32>, %out: memref<?x4x16xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x32xf32> to tensor<?x32xf32>
  %w = bufferization.to_tensor %mw restrict : memref<4x32x16xf32> to tensor<4x32x16xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x4x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, q, j, k) -> (i, k)>, affine_map<(i, q, j, k) -> (q, k, j)>, affine_map<(i, q, j, k) -> (i, q, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x32xf32>, tensor<4x32x16xf32>) outs(%f : tensor<?x4x16xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %t = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %t : f32
    linalg.yield %v : f32
  } -> tensor<?x4x16xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<?x4x16xf32>, memref<?x4x16xf32>) -> ()
  func.return
}

// Where weights are large, more rows read them at once.
//
// V4-LABEL: @large
// V4-SAME:    kind = "register-tile", sizes = array<i64: 12, 2, 16>
// V3-LABEL: @large
// V3-SAME:    kind = "register-tile", sizes = array<i64: 6, 1, 16>
func.func private @large(%mx: memref<?x1024xf32>, %mw: memref<32x1024x16xf32>, %out: memref<?x32x16xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x1024xf32> to tensor<?x1024xf32>
  %w = bufferization.to_tensor %mw restrict : memref<32x1024x16xf32> to tensor<32x1024x16xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x32x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x32x16xf32>) -> tensor<?x32x16xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, q, j, k) -> (i, k)>, affine_map<(i, q, j, k) -> (q, k, j)>, affine_map<(i, q, j, k) -> (i, q, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x1024xf32>, tensor<32x1024x16xf32>) outs(%f : tensor<?x32x16xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %t = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %t : f32
    linalg.yield %v : f32
  } -> tensor<?x32x16xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<?x32x16xf32>, memref<?x32x16xf32>) -> ()
  func.return
}
