// RUN: xrelay-opt --split-input-file -p fuse-elementwise %s | filecheck %s

// What a loop extracts at an index that it computes is computed there, from the operands at that index.
//
// CHECK-LABEL: @extracted
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[J:.*]] = linalg.index 1 : index
// CHECK:           %[[K:.*]] = arith.minsi %[[I]], %last : index
// CHECK:           %[[X:.*]] = tensor.extract %x[%[[J]], %[[K]]] : tensor<?x?xf32>
// CHECK-NEXT:      %[[R:.*]] = arith.index_cast %[[K]] : index to i32
// CHECK-NEXT:      %[[T:.*]] = arith.sitofp %[[R]]
// CHECK-NEXT:      arith.divf %[[X]], %[[T]]
// CHECK-NOT:     linalg.generic
func.func private @extracted(%mx: memref<?x?xf32>, %last: index, %out: memref<?x?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x?xf32> to tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    %r = arith.index_cast %i : index to i32
    %t = arith.sitofp %r : i32 to f32
    %v = arith.divf %a, %t : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  %f = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
    } outs(%f : tensor<?x?xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.minsi %i, %last : index
    %v = tensor.extract %y[%k, %j] : tensor<?x?xf32>
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  bufferization.materialize_in_destination %z in restrict writable %out : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  func.return
}

// -----

// An addition is as cheap as reading it: each row of the result computes it. A division is computed once.
//
// CHECK-LABEL: @cheap
// CHECK:         linalg.generic {{.*}} ins(%x, %y, %{{.*}} : tensor<8x32xf32>, tensor<32xf32>, tensor<32xf32>)
// CHECK:           arith.addf
// CHECK-NEXT:      arith.mulf
// CHECK-LABEL: @costly
// CHECK:           arith.divf
// CHECK:         linalg.generic
// CHECK:           arith.mulf
func.func private @cheap(%mx: memref<8x32xf32>, %my: memref<32xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x32xf32> to tensor<8x32xf32>
  %y = bufferization.to_tensor %my restrict : memref<32xf32> to tensor<32xf32>
  %z = bufferization.to_tensor %my restrict : memref<32xf32> to tensor<32xf32>
  %e = tensor.empty() : tensor<32xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>, affine_map<(j) -> (j)>],
      iterator_types = ["parallel"]
    } ins(%y, %z : tensor<32xf32>, tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<32xf32>
  %f = tensor.empty() : tensor<8x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x, %s : tensor<8x32xf32>, tensor<32xf32>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<8x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  func.return
}
func.func private @costly(%mx: memref<8x32xf32>, %my: memref<32xf32>, %out: memref<8x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x32xf32> to tensor<8x32xf32>
  %y = bufferization.to_tensor %my restrict : memref<32xf32> to tensor<32xf32>
  %e = tensor.empty() : tensor<32xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>],
      iterator_types = ["parallel"]
    } ins(%y : tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%a: f32, %c: f32):
    %v = arith.divf %a, %a : f32
    linalg.yield %v : f32
  } -> tensor<32xf32>
  %f = tensor.empty() : tensor<8x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x, %s : tensor<8x32xf32>, tensor<32xf32>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<8x32xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  func.return
}

// -----

// A permutation of what knows its index has the indices of its own loops.
//
// CHECK-LABEL: @indices
// CHECK:         linalg.generic
// CHECK:           linalg.index 1 : index
// CHECK-NOT:     linalg.generic
func.func private @indices(%mx: memref<8x32xf32>, %out: memref<32x8xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x32xf32> to tensor<8x32xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    %r = arith.index_cast %i : index to i32
    %t = arith.sitofp %r : i32 to f32
    %v = arith.addf %a, %t : f32
    linalg.yield %v : f32
  } -> tensor<8x32xf32>
  %f = tensor.empty() : tensor<32x8xf32>
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y : tensor<8x32xf32>) outs(%f : tensor<32x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<32x8xf32>
  bufferization.materialize_in_destination %z in restrict writable %out : (tensor<32x8xf32>, memref<32x8xf32>) -> ()
  func.return
}
