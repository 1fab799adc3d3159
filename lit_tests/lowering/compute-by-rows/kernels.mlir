// RUN: xrelay-opt --split-input-file -p compute-by-rows %s | filecheck %s

// What lies between the loops of a softmax is one row, which is on the stack if it is small. Powers are summed as they are computed.
//
// CHECK-LABEL: @small_rows
// CHECK:         %[[E:.*]] = memref.alloca() : memref<64xf32>
// CHECK-NEXT:    %[[S:.*]] = memref.alloca() : memref<f32>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           %[[OUT:.*]] = memref.reinterpret_cast %out to offset: [%{{.*}}], sizes: [64], strides: [1]
// CHECK:           %[[X:.*]] = memref.reinterpret_cast %mx to offset: [%{{.*}}], sizes: [64], strides: [1]
// CHECK-NEXT:      linalg.fill ins(%zero : f32) outs(%[[S]] : memref<f32>)
// CHECK-NEXT:      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%[[X]] : {{.*}}) outs(%[[E]], %[[S]] :
// CHECK:             linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK:           linalg.generic {{.*}} ins(%[[E]], %[[S]] : {{.*}}) outs(%[[OUT]] :
// CHECK-NOT:     materialize_in_destination
func.func private @small_rows(%mx: memref<8x64xf32>, %out: memref<8x64xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x64xf32> to tensor<8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<8x64xf32>
  %f = tensor.empty() : tensor<8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%y : tensor<8x64xf32>) outs(%g : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %h = tensor.empty() : tensor<8x64xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y, %s : tensor<8x64xf32>, tensor<8xf32>) outs(%h : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<8x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8x64xf32>, memref<8x64xf32>) -> ()
  func.return
}

// -----

// An open row is in the result, where the operand's is copied first, unless it is there. Elements know their row.
//
// CHECK-LABEL: @open_rows
// CHECK-NOT:     memref.alloc(
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %n step
// CHECK:           %[[OUT:.*]] = memref.reinterpret_cast %out to offset: [%{{.*}}], sizes: [%m], strides: [1]
// CHECK:           %[[X:.*]] = memref.reinterpret_cast %mx to offset
// CHECK-DAG:       %[[A:.*]] = memref.extract_aligned_pointer_as_index %mx
// CHECK-DAG:       %[[B:.*]] = memref.extract_aligned_pointer_as_index %out
// CHECK:           %[[DIFFER:.*]] = arith.cmpi ne, %[[A]], %[[B]] : index
// CHECK-NEXT:      scf.if %[[DIFFER]] {
// CHECK-NEXT:        linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[OUT]] :
// CHECK:           linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[OUT]] : {{.*}}) outs(%[[OUT]], %{{.*}} :
// CHECK:             %{{.*}} = arith.index_cast %[[I]] : index to i32
// CHECK:           linalg.generic {{.*}} ins(%[[OUT]], %{{.*}}) outs(%[[OUT]] :
func.func private @open_rows(%mx: memref<?x?xf32>, %out: memref<?x?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x?xf32> to tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %t = arith.sitofp %k : i32 to f32
    %v = arith.addf %a, %t : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  %f = tensor.empty(%n) : tensor<?xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%y : tensor<?x?xf32>) outs(%g : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  %h = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%h : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  func.return
}

// -----

// A row that is still needed after the operand is read again has memory of its own, once for all rows.
//
// CHECK-LABEL: @read_again
// CHECK:         %[[E:.*]] = memref.alloc(%m) : memref<?xf32>
// CHECK:         scf.for
// CHECK:           linalg.generic {{.*}} outs(%[[E]], %{{.*}} :
func.func private @read_again(%mx: memref<?x?xf32>, %out: memref<?x?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x?xf32> to tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  %f = tensor.empty(%n) : tensor<?xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%g : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %v = arith.addf %c, %p : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  %h = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%h : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  func.return
}

// -----

// A loop that reads other rows than it computes keeps the kernel as it is.
//
// CHECK-LABEL: @other_rows
// CHECK-NOT:     scf.for
// CHECK:         materialize_in_destination
func.func private @other_rows(%mx: memref<64x64xf32>, %out: memref<64x64xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<64x64xf32> to tensor<64x64xf32>
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<64xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%x : tensor<64x64xf32>) outs(%g : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.maximumf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %h = tensor.empty() : tensor<64x64xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x, %s : tensor<64x64xf32>, tensor<64xf32>) outs(%h : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  func.return
}

// -----

// The last loop sums: there are no rows that it writes.
//
// CHECK-LABEL: @sums_of_powers
// CHECK-NOT:     scf.for
// CHECK:         materialize_in_destination
func.func private @sums_of_powers(%mx: memref<8x64xf32>, %out: memref<8xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x64xf32> to tensor<8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<8x64xf32>
  %f = tensor.empty() : tensor<8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%y : tensor<8x64xf32>) outs(%g : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  bufferization.materialize_in_destination %s in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  func.return
}

// -----

// Of loops that sum nothing, the last dim is a loop of its own.
//
// CHECK-LABEL: @two_loops
// CHECK:         %[[E:.*]] = memref.alloca() : memref<64xf32>
// CHECK:         scf.for
// CHECK:           linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%{{.*}} : {{.*}}) outs(%[[E]] :
// CHECK:           linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[E]] :
// CHECK-NOT:     materialize_in_destination
func.func private @two_loops(%mx: memref<8x64xf32>, %out: memref<8x64xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x64xf32> to tensor<8x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<8x64xf32>
  %f = tensor.empty() : tensor<8x64xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y : tensor<8x64xf32>) outs(%f : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<8x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8x64xf32>, memref<8x64xf32>) -> ()
  func.return
}
