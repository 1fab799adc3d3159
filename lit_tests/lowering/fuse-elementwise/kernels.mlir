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

// -----

// A product reads an operand that is only permuted where it is, if its columns stay contiguous.
//
// CHECK-LABEL: @heads
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>]
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<4x2x3xf32>, tensor<3x4x8xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         bufferization.materialize_in_destination
func.func private @heads(%mp: memref<4x2x3xf32>, %mv: memref<3x4x8xf32>, %out: memref<4x2x8xf32>) attributes {xrelay.kernel} {
  %p = bufferization.to_tensor %mp restrict : memref<4x2x3xf32> to tensor<4x2x3xf32>
  %v = bufferization.to_tensor %mv restrict : memref<3x4x8xf32> to tensor<3x4x8xf32>
  %e = tensor.empty() : tensor<4x3x8xf32>
  %t = linalg.generic {
      indexing_maps = [affine_map<(h, n, d) -> (n, h, d)>, affine_map<(h, n, d) -> (h, n, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]
    } ins(%v : tensor<3x4x8xf32>) outs(%e : tensor<4x3x8xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<4x3x8xf32>
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<4x2x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%f : tensor<4x2x8xf32>) -> tensor<4x2x8xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(h, i, d, n) -> (h, i, n)>, affine_map<(h, i, d, n) -> (h, n, d)>, affine_map<(h, i, d, n) -> (h, i, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%p, %t : tensor<4x2x3xf32>, tensor<4x3x8xf32>) outs(%start : tensor<4x2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x2x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<4x2x8xf32>, memref<4x2x8xf32>) -> ()
  func.return
}

// -----

// What is repeated is not computed in the sum: no operand would say how often.
//
// CHECK-LABEL: @repeated
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
func.func private @repeated(%mx: memref<4xf32>, %out: memref<4xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4xf32> to tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%r : tensor<4x8xf32>) outs(%g : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  bufferization.materialize_in_destination %s in restrict writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  func.return
}
