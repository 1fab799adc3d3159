// RUN: xrelay-opt -p 'copy-kernels{target=x86_64-linux-gnu},choose-schedules{target=x86_64-linux-gnu}' %s | filecheck %s

// A kernel has a copy for each level, with tiles of its vectors: 4, 8 and 16 elements.
//
// CHECK:      func.func private @product(
// CHECK-SAME:   xrelay.cpu = "x86-64", xrelay.copies = [@"product.x86-64-v3", @"product.x86-64-v4"]
// CHECK-SAME:   sizes = array<i64: 4, 8>
// CHECK:      func.func private @"product.x86-64-v4"(
// CHECK-SAME:   xrelay.cpu = "x86-64-v4"
// CHECK-SAME:   sizes = array<i64: 8, 32>
// CHECK:      func.func private @"product.x86-64-v3"(
// CHECK-SAME:   xrelay.cpu = "x86-64-v3"
// CHECK-SAME:   sizes = array<i64: 4, 16>
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
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  func.return
}

// A kernel that only copies has vectors of no level.
//
// CHECK-LABEL: @joined(
// CHECK-NOT:     xrelay.cpu
// CHECK-NOT:     @"joined.
func.func private @joined(%mx: memref<8x16xf32>, %out: memref<16x8xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<8x16xf32> to tensor<8x16xf32>
  %e = tensor.empty() : tensor<16x8xf32>
  %t = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<8x16xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<16x8xf32>
  bufferization.materialize_in_destination %t in restrict writable %out : (tensor<16x8xf32>, memref<16x8xf32>) -> ()
  func.return
}
