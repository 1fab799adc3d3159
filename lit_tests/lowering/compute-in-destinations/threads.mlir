// RUN: xrelay-opt -p compute-in-destinations{threads=true} %s | filecheck %s --check-prefix=THREADS
// RUN: xrelay-opt -p compute-in-destinations %s | filecheck %s

// Where threads compute rows, each has memory for one row; a row that is too long for that, or one thread, uses the result.
//
// THREADS-LABEL: @rows
// THREADS-NOT:     bufferization.to_tensor %out
// THREADS-LABEL: @long_rows
// THREADS:         bufferization.to_tensor %out restrict writable
//
// CHECK-LABEL:   @rows
// CHECK:           bufferization.to_tensor %out restrict writable
func.func private @rows(%mx: memref<256x4096xf32>, %out: memref<256x4096xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<256x4096xf32> to tensor<256x4096xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x4096xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<256x4096xf32>) outs(%e : tensor<256x4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<256x4096xf32>
  %f = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%y : tensor<256x4096xf32>) outs(%g : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<256xf32>
  %h = tensor.empty() : tensor<256x4096xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y, %s : tensor<256x4096xf32>, tensor<256xf32>) outs(%h : tensor<256x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<256x4096xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<256x4096xf32>, memref<256x4096xf32>) -> ()
  func.return
}
func.func private @long_rows(%mx: memref<256x4097xf32>, %out: memref<256x4097xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<256x4097xf32> to tensor<256x4097xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x4097xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<256x4097xf32>) outs(%e : tensor<256x4097xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<256x4097xf32>
  %f = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%y : tensor<256x4097xf32>) outs(%g : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<256xf32>
  %h = tensor.empty() : tensor<256x4097xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y, %s : tensor<256x4097xf32>, tensor<256xf32>) outs(%h : tensor<256x4097xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<256x4097xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<256x4097xf32>, memref<256x4097xf32>) -> ()
  func.return
}
