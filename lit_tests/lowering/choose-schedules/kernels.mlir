// RUN: xrelay-opt --split-input-file -p 'choose-schedules{cpu=x86-64-v3}' %s | filecheck %s

// A product is computed in tiles whose sums stay in registers: 6 rows by 2 vectors of 8, or as many
// rows as divide the rows of the result.
//
// CHECK-LABEL: @product
// CHECK-SAME:    xrelay.schedule = [{kind = "register-tile", sizes = array<i64: 4, 16>
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

// So is one of an open number of rows, or of columns.
//
// CHECK-LABEL: @open_product
// CHECK-SAME:    xrelay.schedule = [{kind = "register-tile", sizes = array<i64: 6, 16>
func.func private @open_product(%mx: memref<?x16xf32>, %mw: memref<16x?xf32>, %out: memref<?x?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x16xf32> to tensor<?x16xf32>
  %w = bufferization.to_tensor %mw restrict : memref<16x?xf32> to tensor<16x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %m = tensor.dim %w, %c1 : tensor<16x?xf32>
  %se = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x16xf32>, tensor<16x?xf32>) outs(%s0 : tensor<?x?xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %q = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  func.return
}

// -----

// A kernel that has the attribute keeps it, also if it is empty.
//
// CHECK-LABEL: @by_hand
// CHECK-SAME:    xrelay.schedule = [{kind = "register-tile", sizes = array<i64: 2, 8>
// CHECK-LABEL: @none
// CHECK-SAME:    xrelay.schedule = []
func.func private @by_hand(%mx: memref<8x16xf32>, %mw: memref<16x32xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel, xrelay.schedule = [{kind = "register-tile", sizes = array<i64: 2, 8>, order = array<i64: 1, 0>}]} {
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
func.func private @none(%mx: memref<8x16xf32>, %mw: memref<16x32xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel, xrelay.schedule = []} {
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

// An elementwise loop has no schedule: LLVM makes vectors of it.
//
// CHECK-LABEL: @elementwise
// CHECK-NOT:     xrelay.schedule
// CHECK:         func.return
func.func private @elementwise(%mx: memref<4x8xf32>, %my: memref<4x8xf32>, %out: memref<4x8xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x8xf32> to tensor<4x8xf32>
  %y = bufferization.to_tensor %my restrict : memref<4x8xf32> to tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.negf %e0 : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%n, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.addf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<4x8xf32>, memref<4x8xf32>) -> ()
  func.return
}
