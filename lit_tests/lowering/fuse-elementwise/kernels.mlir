// RUN: xrelay-opt --split-input-file -p fuse-elementwise %s | filecheck %s

// A chain of elementwise loops is one loop.
//
// CHECK-LABEL: @chain
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %[[N:.*]] = arith.negf
// CHECK-NEXT:      arith.addf %[[N]]
// CHECK-NOT:     linalg.generic
// CHECK:         bufferization.materialize_in_destination
func.func private @chain(%mx: memref<4x8xf32>, %my: memref<4x8xf32>, %out: memref<4x8xf32>) attributes {xrelay.kernel} {
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

// -----

// A value that a chain reads twice is computed once in its body.
//
// CHECK-LABEL: @shared
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %[[N:.*]] = arith.negf
// CHECK-NEXT:      %[[A:.*]] = arith.addf %[[N]],
// CHECK-NEXT:      arith.addf %[[A]], %[[N]]
// CHECK-NOT:     linalg.generic
// CHECK:         bufferization.materialize_in_destination
func.func private @shared(%mx: memref<4x8xf32>, %my: memref<4x8xf32>, %out: memref<4x8xf32>) attributes {xrelay.kernel} {
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
  %g = tensor.empty() : tensor<4x8xf32>
  %t = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%r, %n : tensor<4x8xf32>, tensor<4x8xf32>) outs(%g : tensor<4x8xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.addf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  bufferization.materialize_in_destination %t in restrict writable %out : (tensor<4x8xf32>, memref<4x8xf32>) -> ()
  func.return
}

// -----

// A transposition reads each element once, so it computes it.
//
// CHECK-LABEL: @transposed
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<8x4xf32>)
// CHECK:           arith.negf
// CHECK-NOT:     linalg.generic
// CHECK:         bufferization.materialize_in_destination
func.func private @transposed(%mx: memref<4x8xf32>, %out: memref<8x4xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x8xf32> to tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.negf %e0 : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<8x4xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%n : tensor<4x8xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<8x4xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8x4xf32>, memref<8x4xf32>) -> ()
  func.return
}
