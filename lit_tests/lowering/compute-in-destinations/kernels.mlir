// RUN: xrelay-opt --split-input-file -p compute-in-destinations %s | filecheck %s

// Slices are inserted into the result itself, and what follows writes over them.
//
// CHECK-LABEL: @joined
// CHECK-NOT:     tensor.empty
// CHECK:         %[[OUT:.*]] = bufferization.to_tensor %out restrict writable
// CHECK:         %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[OUT]][0, 0]
// CHECK:         %[[B:.*]] = tensor.insert_slice %{{.*}} into %[[A]][0, 4]
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} outs(%[[B]] : tensor<4x8xf32>)
// CHECK:         bufferization.materialize_in_destination %[[R]]
func.func private @joined(%mx: memref<4x4xf32>, %my: memref<4x4xf32>, %out: memref<4x8xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x4xf32> to tensor<4x4xf32>
  %y = bufferization.to_tensor %my restrict : memref<4x4xf32> to tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %a = tensor.insert_slice %x into %e[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %b = tensor.insert_slice %y into %a[0, 4] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%b : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.negf %e0 : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<4x8xf32>, memref<4x8xf32>) -> ()
  func.return
}

// -----

// An operand as large as the result may lie under it: it must not be read after the first write.
//
// CHECK-LABEL: @read_later
// CHECK:         tensor.empty
// CHECK-NOT:     to_tensor %out
func.func private @read_later(%mx: memref<4x4xf32>, %my: memref<4x4xf32>, %mw: memref<4x8xf32>, %out: memref<4x8xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x4xf32> to tensor<4x4xf32>
  %y = bufferization.to_tensor %my restrict : memref<4x4xf32> to tensor<4x4xf32>
  %w = bufferization.to_tensor %mw restrict : memref<4x8xf32> to tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %a = tensor.insert_slice %x into %e[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %b = tensor.insert_slice %y into %a[0, 4] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%b, %w : tensor<4x8xf32>, tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.addf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<4x8xf32>, memref<4x8xf32>) -> ()
  func.return
}
