// RUN: xrelay-opt --split-input-file -p materialize-products %s | filecheck %s

// A product that is read at computed indices is stored in a buffer of its own, and its reader is a
// loop on buffers, which stays out of the product's tiles.
//
// CHECK-LABEL: @broadcast
// CHECK:         %[[B:.*]] = memref.alloc(%{{.*}}) : memref<?x32xf32>
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:    bufferization.materialize_in_destination %[[P]] in restrict writable %[[B]]
// CHECK:         %[[Y:.*]] = bufferization.to_buffer %{{.*}} read_only
// CHECK-NEXT:    linalg.generic {{.*}} outs(%{{.*}} : memref<?x32xf32>) attrs = {xrelay.untiled}
// CHECK:           memref.load %[[B]][
// CHECK:           memref.load %[[Y]][
// CHECK:         func.return
func.func private @broadcast(%mx: memref<?x16xf32>, %mw: memref<16x32xf32>, %my: memref<?x32xf32>, %out: memref<?x32xf32>) attributes {xrelay.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = bufferization.to_tensor %mx restrict : memref<?x16xf32> to tensor<?x16xf32>
  %w = bufferization.to_tensor %mw restrict : memref<16x32xf32> to tensor<16x32xf32>
  %y = bufferization.to_tensor %my restrict : memref<?x32xf32> to tensor<?x32xf32>
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %n = tensor.dim %y, %c0 : tensor<?x32xf32>
  %se = tensor.empty(%m) : tensor<?x32xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<?x32xf32>) -> tensor<?x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x16xf32>, tensor<16x32xf32>) outs(%s0 : tensor<?x32xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  %last_row = arith.subi %m, %c1 : index
  %last = arith.subi %n, %c1 : index
  %rows = arith.maxsi %m, %n : index
  %f = tensor.empty(%rows) : tensor<?x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
    } outs(%f : tensor<?x32xf32>) {
  ^bb0(%e0: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %a = arith.minsi %i, %last_row : index
    %b = arith.minsi %i, %last : index
    %s = tensor.extract %p[%a, %j] : tensor<?x32xf32>
    %t = tensor.extract %y[%b, %j] : tensor<?x32xf32>
    %v = arith.addf %s, %t : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x32xf32>, memref<?x32xf32>) -> ()
  func.return
}

// -----

// A reader that fits into the tiles stays there.
//
// CHECK-LABEL: @fused
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     xrelay.untiled
// CHECK:         func.return
func.func private @fused(%mx: memref<?x16xf32>, %mw: memref<16x32xf32>, %out: memref<?x32xf32>) attributes {xrelay.kernel} {
  %c0 = arith.constant 0 : index
  %x = bufferization.to_tensor %mx restrict : memref<?x16xf32> to tensor<?x16xf32>
  %w = bufferization.to_tensor %mw restrict : memref<16x32xf32> to tensor<16x32xf32>
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %se = tensor.empty(%m) : tensor<?x32xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<?x32xf32>) -> tensor<?x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x16xf32>, tensor<16x32xf32>) outs(%s0 : tensor<?x32xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  %f = tensor.empty(%m) : tensor<?x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
    } ins(%p : tensor<?x32xf32>) outs(%f : tensor<?x32xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.negf %e0 : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x32xf32>, memref<?x32xf32>) -> ()
  func.return
}

// -----

// So is one whose weights are in panels; its reader reads the columns of all of them.
//
// CHECK-LABEL: @panels
// CHECK:         %[[B:.*]] = memref.alloc(%{{.*}}) : memref<?x2x16xf32>
// CHECK:         bufferization.materialize_in_destination %{{.*}} in restrict writable %[[B]]
// CHECK-NEXT:    %[[C:.*]] = memref.collapse_shape %[[B]] {{.*}} : memref<?x2x16xf32> into memref<?x32xf32>
// CHECK:         linalg.generic {{.*}} attrs = {xrelay.untiled}
// CHECK:           memref.load %[[C]][
func.func private @panels(%mx: memref<?x16xf32>, %mw: memref<2x16x16xf32>, %my: memref<?x32xf32>, %out: memref<?x32xf32>) attributes {xrelay.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = bufferization.to_tensor %mx restrict : memref<?x16xf32> to tensor<?x16xf32>
  %w = bufferization.to_tensor %mw restrict : memref<2x16x16xf32> to tensor<2x16x16xf32>
  %y = bufferization.to_tensor %my restrict : memref<?x32xf32> to tensor<?x32xf32>
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %n = tensor.dim %y, %c0 : tensor<?x32xf32>
  %se = tensor.empty(%m) : tensor<?x2x16xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, b, j, k) -> (i, k)>, affine_map<(i, b, j, k) -> (b, k, j)>, affine_map<(i, b, j, k) -> (i, b, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x16xf32>, tensor<2x16x16xf32>) outs(%s0 : tensor<?x2x16xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %q = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x2x16xf32>
  %columns = tensor.collapse_shape %p [[0], [1, 2]] : tensor<?x2x16xf32> into tensor<?x32xf32>
  %last_row = arith.subi %m, %c1 : index
  %last = arith.subi %n, %c1 : index
  %rows = arith.maxsi %m, %n : index
  %f = tensor.empty(%rows) : tensor<?x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
    } outs(%f : tensor<?x32xf32>) {
  ^bb0(%e0: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %a = arith.minsi %i, %last_row : index
    %b = arith.minsi %i, %last : index
    %s = tensor.extract %columns[%a, %j] : tensor<?x32xf32>
    %t = tensor.extract %y[%b, %j] : tensor<?x32xf32>
    %v = arith.addf %s, %t : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x32xf32>, memref<?x32xf32>) -> ()
  func.return
}
