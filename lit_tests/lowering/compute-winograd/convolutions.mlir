// RUN: xrelay-opt --split-input-file -p 'compute-winograd{target=x86_64-linux-gnu cpu=x86-64-v3}' %s | filecheck %s

// A convolution with transformed filters and the loop that reads it are products of 2x6 vectors in
// blocks of tile rows. Of the last tile of 5 columns, one column is stored. Weights are brought into
// the cache before they are read.
//
// CHECK-LABEL: @odd_columns
// CHECK-DAG:     %[[V:.*]] = memref.alloc() : memref<1x4x4x6x16xf32>
// CHECK-DAG:     %[[M:.*]] = memref.alloc() : memref<1x4x4x6x16xf32>
// CHECK:         vector.store %{{.*}}, %[[V]][
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK:           "memref.prefetch"(%[[U:.*]], %[[P:.*]], %[[I:.*]], %[[J:.*]], %{{.*}}, %{{.*}}) <{
// CHECK:           vector.load %[[U]][%[[P]], %[[I]], %[[J]],
// CHECK:         vector.store %{{.*}}, %[[M]][
// CHECK:         "arith.maximumf"(%{{.*}}) {{.*}} : (vector<16xf32>, vector<16xf32>)
// CHECK:         vector.store %{{.*}}, %out[
// CHECK:         scf.if
// CHECK-NOT:     linalg.generic
func.func private @odd_columns(%x: memref<1x6x7x16xf32>, %u: memref<1x4x4x16x16xf32>, %b: memref<1x16xf32>, %out: memref<1x4x5x1x16xf32>) attributes {xrelay.kernel} {
  %u_1 = bufferization.to_tensor %u restrict : memref<1x4x4x16x16xf32> to tensor<1x4x4x16x16xf32>
  %x_1 = bufferization.to_tensor %x restrict : memref<1x6x7x16xf32> to tensor<1x6x7x16xf32>
  %b_1 = bufferization.to_tensor %b restrict : memref<1x16xf32> to tensor<1x16xf32>
  %inverse = arith.constant dense<1.0> : tensor<3x3x4x4xf32>
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<1x3x3x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x16x16xf32>) -> tensor<1x3x3x16x16xf32>
  %w = linalg.generic {
    indexing_maps = [affine_map<(p, i, j, c, q, a, b) -> (p, a, b, c, q)>, affine_map<(p, i, j, c, q, a, b) -> (i, j, a, b)>, affine_map<(p, i, j, c, q, a, b) -> (p, i, j, c, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%u_1, %inverse : tensor<1x4x4x16x16xf32>, tensor<3x3x4x4xf32>) outs(%f : tensor<1x3x3x16x16xf32>) attrs = {xrelay.transformed} {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1x3x3x16x16xf32>
  %g = tensor.empty() : tensor<1x4x5x1x16xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x4x5x1x16xf32>) -> tensor<1x4x5x1x16xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, p, q, i, j, c) -> (n, h + i, w + j, c)>, affine_map<(n, h, w, p, q, i, j, c) -> (p, i, j, c, q)>, affine_map<(n, h, w, p, q, i, j, c) -> (n, h, w, p, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x_1, %w : tensor<1x6x7x16xf32>, tensor<1x3x3x16x16xf32>) outs(%h : tensor<1x4x5x1x16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1x4x5x1x16xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, p, q) -> (n, h, w, p, q)>, affine_map<(n, h, w, p, q) -> (p, q)>, affine_map<(n, h, w, p, q) -> (n, h, w, p, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%y, %b_1 : tensor<1x4x5x1x16xf32>, tensor<1x16xf32>) outs(%g : tensor<1x4x5x1x16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.addf %0, %1 : f32
    %4 = arith.maximumf %3, %zero : f32
    linalg.yield %4 : f32
  } -> tensor<1x4x5x1x16xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<1x4x5x1x16xf32>, memref<1x4x5x1x16xf32>) -> ()
  func.return
}

// -----

// Memory that the kernel gets for intermediate values, arguments without a use, is where they are.
//
// CHECK-LABEL: @lent(
// CHECK-NOT:     memref.alloc
// CHECK:         vector.store %{{.*}}, %v[
// CHECK:         vector.store %{{.*}}, %m[
// CHECK:         func.return
func.func private @lent(%x: memref<1x6x7x16xf32>, %u: memref<1x4x4x16x16xf32>, %b: memref<1x16xf32>, %out: memref<1x4x5x1x16xf32>, %v: memref<1x4x4x6x16xf32>, %m: memref<1x4x4x6x16xf32>) attributes {xrelay.kernel} {
  %u_1 = bufferization.to_tensor %u restrict : memref<1x4x4x16x16xf32> to tensor<1x4x4x16x16xf32>
  %x_1 = bufferization.to_tensor %x restrict : memref<1x6x7x16xf32> to tensor<1x6x7x16xf32>
  %b_1 = bufferization.to_tensor %b restrict : memref<1x16xf32> to tensor<1x16xf32>
  %inverse = arith.constant dense<1.0> : tensor<3x3x4x4xf32>
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<1x3x3x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x16x16xf32>) -> tensor<1x3x3x16x16xf32>
  %w = linalg.generic {
    indexing_maps = [affine_map<(p, i, j, c, q, a, b) -> (p, a, b, c, q)>, affine_map<(p, i, j, c, q, a, b) -> (i, j, a, b)>, affine_map<(p, i, j, c, q, a, b) -> (p, i, j, c, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%u_1, %inverse : tensor<1x4x4x16x16xf32>, tensor<3x3x4x4xf32>) outs(%f : tensor<1x3x3x16x16xf32>) attrs = {xrelay.transformed} {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1x3x3x16x16xf32>
  %g = tensor.empty() : tensor<1x4x5x1x16xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x4x5x1x16xf32>) -> tensor<1x4x5x1x16xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, p, q, i, j, c) -> (n, h + i, w + j, c)>, affine_map<(n, h, w, p, q, i, j, c) -> (p, i, j, c, q)>, affine_map<(n, h, w, p, q, i, j, c) -> (n, h, w, p, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x_1, %w : tensor<1x6x7x16xf32>, tensor<1x3x3x16x16xf32>) outs(%h : tensor<1x4x5x1x16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1x4x5x1x16xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, p, q) -> (n, h, w, p, q)>, affine_map<(n, h, w, p, q) -> (p, q)>, affine_map<(n, h, w, p, q) -> (n, h, w, p, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%y, %b_1 : tensor<1x4x5x1x16xf32>, tensor<1x16xf32>) outs(%g : tensor<1x4x5x1x16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.addf %0, %1 : f32
    %4 = arith.maximumf %3, %zero : f32
    linalg.yield %4 : f32
  } -> tensor<1x4x5x1x16xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<1x4x5x1x16xf32>, memref<1x4x5x1x16xf32>) -> ()
  func.return
}

// -----

// A convolution whose result nothing reads in its kernel is stored as it is.
//
// CHECK-LABEL: @alone
// CHECK:         vector.store %{{.*}}, %out[
// CHECK-NOT:     linalg.generic
func.func private @alone(%x: memref<1x6x7x16xf32>, %u: memref<1x4x4x16x16xf32>, %out: memref<1x4x5x1x16xf32>) attributes {xrelay.kernel} {
  %u_1 = bufferization.to_tensor %u restrict : memref<1x4x4x16x16xf32> to tensor<1x4x4x16x16xf32>
  %x_1 = bufferization.to_tensor %x restrict : memref<1x6x7x16xf32> to tensor<1x6x7x16xf32>
  %inverse = arith.constant dense<1.0> : tensor<3x3x4x4xf32>
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<1x3x3x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x16x16xf32>) -> tensor<1x3x3x16x16xf32>
  %w = linalg.generic {
    indexing_maps = [affine_map<(p, i, j, c, q, a, b) -> (p, a, b, c, q)>, affine_map<(p, i, j, c, q, a, b) -> (i, j, a, b)>, affine_map<(p, i, j, c, q, a, b) -> (p, i, j, c, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%u_1, %inverse : tensor<1x4x4x16x16xf32>, tensor<3x3x4x4xf32>) outs(%f : tensor<1x3x3x16x16xf32>) attrs = {xrelay.transformed} {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1x3x3x16x16xf32>
  %g = tensor.empty() : tensor<1x4x5x1x16xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x4x5x1x16xf32>) -> tensor<1x4x5x1x16xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, p, q, i, j, c) -> (n, h + i, w + j, c)>, affine_map<(n, h, w, p, q, i, j, c) -> (p, i, j, c, q)>, affine_map<(n, h, w, p, q, i, j, c) -> (n, h, w, p, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x_1, %w : tensor<1x6x7x16xf32>, tensor<1x3x3x16x16xf32>) outs(%h : tensor<1x4x5x1x16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1x4x5x1x16xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<1x4x5x1x16xf32>, memref<1x4x5x1x16xf32>) -> ()
  func.return
}
