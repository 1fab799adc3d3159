// RUN: xrelay-opt --split-input-file -p move-reshapes %s | filecheck %s

// What follows a reduction has its dims, and the reshape moves to the other operand and to the
// destination.
//
// CHECK-LABEL: @after_a_reduction
// CHECK:         %[[S:.*]] = linalg.generic {{.*}}"reduction"
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         tensor.expand_shape {{.*}} : tensor<24xf32> into tensor<4x6xf32>
// CHECK:         %[[D:.*]] = memref.reinterpret_cast %{{.*}} : memref<24xf32> to memref<4x6xf32>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]], {{.*}} : tensor<4x6xf32>, tensor<4x6xf32>)
// CHECK:         bufferization.materialize_in_destination %[[R]] in restrict writable %[[D]]
func.func private @after_a_reduction(%mx: memref<4x6x3xf32>, %my: memref<24xf32>, %out: memref<24xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x6x3xf32> to tensor<4x6x3xf32>
  %y = bufferization.to_tensor %my restrict : memref<24xf32> to tensor<24xf32>
  %se = tensor.empty() : tensor<4x6xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x : tensor<4x6x3xf32>) outs(%s0 : tensor<4x6xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e1, %e0 : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %e = tensor.empty() : tensor<24xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%c, %y : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.addf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<24xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<24xf32>, memref<24xf32>) -> ()
  func.return
}

// -----

// A reshape that two loops of a chain read moves past both.
//
// CHECK-LABEL: @read_twice
// CHECK:         %[[S:.*]] = linalg.generic {{.*}}"reduction"
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         %[[F:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<4x6xf32>)
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         linalg.generic {{.*}} ins(%[[S]], %[[F]] : tensor<4x6xf32>, tensor<4x6xf32>)
func.func private @read_twice(%mx: memref<4x6x3xf32>, %out: memref<24xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x6x3xf32> to tensor<4x6x3xf32>
  %se = tensor.empty() : tensor<4x6xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x : tensor<4x6x3xf32>) outs(%s0 : tensor<4x6xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e1, %e0 : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%c : tensor<24xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = math.erf %e0 : f32
    linalg.yield %v : f32
  } -> tensor<24xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%c, %f : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.mulf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<24xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<24xf32>, memref<24xf32>) -> ()
  func.return
}

// -----

// An open dim that is not collapsed stays open.
//
// CHECK-LABEL: @beside_an_open_dim
// CHECK:         %[[S:.*]] = linalg.generic {{.*}}"reduction"
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         tensor.expand_shape {{.*}} : tensor<?x24xf32> into tensor<?x4x6xf32>
// CHECK:         %[[N:.*]] = memref.dim %out, %{{.*}} : memref<?x24xf32>
// CHECK:         %[[D:.*]] = memref.reinterpret_cast %out to offset: [0], sizes: [%[[N]], 4, 6], strides: [24, 6, 1]
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]], {{.*}} : tensor<?x4x6xf32>, tensor<?x4x6xf32>)
// CHECK:         bufferization.materialize_in_destination %[[R]] in restrict writable %[[D]]
func.func private @beside_an_open_dim(%mx: memref<?x4x6x3xf32>, %my: memref<?x24xf32>, %out: memref<?x24xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x4x6x3xf32> to tensor<?x4x6x3xf32>
  %y = bufferization.to_tensor %my restrict : memref<?x24xf32> to tensor<?x24xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x6x3xf32>
  %se = tensor.empty(%n) : tensor<?x4x6xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<?x4x6xf32>) -> tensor<?x4x6xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(n, i, j, k) -> (n, i, j, k)>, affine_map<(n, i, j, k) -> (n, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x : tensor<?x4x6x3xf32>) outs(%s0 : tensor<?x4x6xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e1, %e0 : f32
    linalg.yield %v : f32
  } -> tensor<?x4x6xf32>
  %c = tensor.collapse_shape %s [[0], [1, 2]] : tensor<?x4x6xf32> into tensor<?x24xf32>
  %e = tensor.empty(%n) : tensor<?x24xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, i) -> (n, i)>, affine_map<(n, i) -> (n, i)>, affine_map<(n, i) -> (n, i)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%c, %y : tensor<?x24xf32>, tensor<?x24xf32>) outs(%e : tensor<?x24xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.addf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<?x24xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x24xf32>, memref<?x24xf32>) -> ()
  func.return
}

// -----

// The sizes of a destination whose open dim is one of several come from the loop. (Attention: heads beside the batch.)
//
// CHECK-LABEL: @open_dim_of_two
// CHECK:         %[[B:.*]] = tensor.dim %x
// CHECK:         %[[D:.*]] = memref.reinterpret_cast %out to offset: [0], sizes: [%[[B]], 4, 32], strides: [128, 32, 1] : memref<?x32xf32> to memref<?x4x32xf32>
// CHECK:         %[[R:.*]] = linalg.generic
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         bufferization.materialize_in_destination %[[R]] in restrict writable %[[D]]
func.func private @open_dim_of_two(%mx: memref<?x32x4xf32>, %out: memref<?x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x32x4xf32> to tensor<?x32x4xf32>
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x32x4xf32>
  %e = tensor.empty(%b) : tensor<?x4x32xf32>
  %t = linalg.generic {
      indexing_maps = [affine_map<(n, i, j) -> (n, j, i)>, affine_map<(n, i, j) -> (n, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]
    } ins(%x : tensor<?x32x4xf32>) outs(%e : tensor<?x4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x4x32xf32>
  %c = tensor.collapse_shape %t [[0, 1], [2]] : tensor<?x4x32xf32> into tensor<?x32xf32>
  bufferization.materialize_in_destination %c in restrict writable %out : (tensor<?x32xf32>, memref<?x32xf32>) -> ()
  func.return
}

// -----

// A function that is not a kernel stays as it is.
//
// CHECK-LABEL: @no_kernel
// CHECK:         tensor.collapse_shape
func.func private @no_kernel(%mx: memref<4x6x3xf32>, %my: memref<24xf32>, %out: memref<24xf32>) attributes {test.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x6x3xf32> to tensor<4x6x3xf32>
  %y = bufferization.to_tensor %my restrict : memref<24xf32> to tensor<24xf32>
  %se = tensor.empty() : tensor<4x6xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x : tensor<4x6x3xf32>) outs(%s0 : tensor<4x6xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e1, %e0 : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %e = tensor.empty() : tensor<24xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%c, %y : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.addf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<24xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<24xf32>, memref<24xf32>) -> ()
  func.return
}

// -----

// A loop beside a product of panels has the dims of these, and nothing else reads its result: `fuse-elementwise` computes it in the reader. (A gate of a recurrent cell.)
//
// CHECK-LABEL: @a_loop_beside_panels
// CHECK:         %[[E:.*]] = tensor.expand_shape %x {{.*}} : tensor<?x32xf32> into tensor<?x2x16xf32>
// CHECK:         %[[G:.*]] = linalg.generic {{.*}} ins(%[[E]] : tensor<?x2x16xf32>)
// CHECK-NOT:     tensor.dim %[[G]]
// CHECK:         linalg.generic {{.*}} ins(%p, %[[G]] : tensor<?x2x16xf32>, tensor<?x2x16xf32>)
func.func private @a_loop_beside_panels(%mx: memref<?x32xf32>, %mw: memref<2x32x16xf32>, %out: memref<?x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x32xf32> to tensor<?x32xf32>
  %w = bufferization.to_tensor %mw restrict : memref<2x32x16xf32> to tensor<2x32x16xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %ge = tensor.empty(%n) : tensor<?x32xf32>
  %g = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<?x32xf32>) outs(%ge : tensor<?x32xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.negf %e0 : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  %z = arith.constant 0.0 : f32
  %pe = tensor.empty(%n) : tensor<?x2x16xf32>
  %p0 = linalg.fill ins(%z : f32) outs(%pe : tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, q, j, k) -> (i, k)>, affine_map<(i, q, j, k) -> (q, k, j)>, affine_map<(i, q, j, k) -> (i, q, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x32xf32>, tensor<2x32x16xf32>) outs(%p0 : tensor<?x2x16xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %m = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %m : f32
    linalg.yield %v : f32
  } -> tensor<?x2x16xf32>
  %c = tensor.collapse_shape %p [[0], [1, 2]] : tensor<?x2x16xf32> into tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%c, %g : tensor<?x32xf32>, tensor<?x32xf32>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.mulf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x32xf32>, memref<?x32xf32>) -> ()
  func.return
}

// -----

// A reduction that keeps its dim is read as it was before the dim of 1 was inserted.
//
// CHECK-LABEL: @kept_dim
// CHECK:         %[[S:.*]] = linalg.generic {{.*}}"reduction"
// CHECK-NOT:     tensor.expand_shape
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], {{.*}} ins(%{{.*}}, %[[S]] : tensor<4x6xf32>, tensor<4xf32>)
func.func private @kept_dim(%mx: memref<4x6xf32>, %out: memref<4x6xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x6xf32> to tensor<4x6xf32>
  %se = tensor.empty() : tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%x : tensor<4x6xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e1, %e0 : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %k = tensor.expand_shape %s [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x, %k : tensor<4x6xf32>, tensor<4x1xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.divf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<4x6xf32>, memref<4x6xf32>) -> ()
  func.return
}

// -----

// A dim of 1 stays where nothing else has the loop over it.
//
// CHECK-LABEL: @reduced_dim_of_one
// CHECK:         %[[X:.*]] = tensor.expand_shape
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<2x1x1x4xf32>)
func.func private @reduced_dim_of_one(%mx: memref<2x1x4xf32>, %out: memref<2xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<2x1x4xf32> to tensor<2x1x4xf32>
  %y = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [2, 1, 1, 4] : tensor<2x1x4xf32> into tensor<2x1x1x4xf32>
  %e = tensor.empty() : tensor<2xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i)>],
      iterator_types = ["parallel", "reduction", "reduction", "reduction"]
    } ins(%y : tensor<2x1x1x4xf32>) outs(%s0 : tensor<2xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e1, %e0 : f32
    linalg.yield %v : f32
  } -> tensor<2xf32>
  bufferization.materialize_in_destination %s in restrict writable %out : (tensor<2xf32>, memref<2xf32>) -> ()
  func.return
}
