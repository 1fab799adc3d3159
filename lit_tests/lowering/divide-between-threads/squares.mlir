// RUN: xrelay-opt --split-input-file -p 'write-transposed,choose-schedules{cpu=x86-64-v3},divide-between-threads' %s | filecheck %s

// A loop that transposes is divided along another dim than those of its squares.
//
// CHECK-LABEL: @transposed
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 1 : i64, turns = 1 : i64, loops = 4 : i64}, {kind = "squares"}]
// CHECK:         call @xrelay_work
func.func private @transposed(%mx: memref<?x?x4x32xf32>, %out: memref<?x4x32x?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x?x4x32xf32> to tensor<?x?x4x32xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x4x32xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x4x32xf32>
  %e = tensor.empty(%b, %n) : tensor<?x4x32x?xf32>
  %t = linalg.generic {
      indexing_maps = [affine_map<(b, h, c, n) -> (b, n, h, c)>, affine_map<(b, h, c, n) -> (b, h, c, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]
    } ins(%x : tensor<?x?x4x32xf32>) outs(%e : tensor<?x4x32x?xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<?x4x32x?xf32>
  bufferization.materialize_in_destination %t in restrict writable %out : (tensor<?x4x32x?xf32>, memref<?x4x32x?xf32>) -> ()
  func.return
}

// -----

// If there is none, chunks are whole squares.
//
// CHECK-LABEL: @matrix
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = {{[01]}} : i64, turns = 32 : i64, loops = 2 : i64}, {kind = "squares"}]
func.func private @matrix(%mx: memref<512x512xf32>, %out: memref<512x512xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<512x512xf32> to tensor<512x512xf32>
  %e = tensor.empty() : tensor<512x512xf32>
  %t = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<512x512xf32>
  bufferization.materialize_in_destination %t in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  func.return
}
