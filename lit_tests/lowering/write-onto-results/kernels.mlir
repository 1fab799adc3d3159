// RUN: xrelay-opt -p write-onto-results %s | filecheck %s

// The start of sums is in the result, whose size bufferization could not show to be that of the empty tensor.
//
// CHECK-LABEL: @sums
// CHECK-NOT:     tensor.empty
// CHECK:         %[[OUT:.*]] = bufferization.to_tensor %out restrict writable
// CHECK-NEXT:    %[[F:.*]] = linalg.fill {{.*}} outs(%[[OUT]] :
// CHECK-NEXT:    %[[S:.*]] = linalg.generic {{.*}} outs(%[[F]] :
// CHECK:         bufferization.materialize_in_destination %[[S]] in restrict writable %out
func.func private @sums(%mx: memref<?x24xf32>, %out: memref<?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x24xf32> to tensor<?x24xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x24xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%x : tensor<?x24xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %s in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  func.return
}

// What several loops write onto stays empty: the first may not write the result.
//
// CHECK-LABEL: @shared
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<24xf32>
// CHECK:         linalg.generic {{.*}} outs(%[[E]] :
// CHECK:         linalg.generic {{.*}} outs(%[[E]] :
func.func private @shared(%mx: memref<24xf32>, %out: memref<24xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<24xf32> to tensor<24xf32>
  %e = tensor.empty() : tensor<24xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%x : tensor<24xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<24xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%x, %y : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<24xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<24xf32>, memref<24xf32>) -> ()
  func.return
}

// The second result of a loop is what it writes onto its second tensor: a position of the greatest number.
//
// CHECK-LABEL: @position
// CHECK:         %[[NUMBERS:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT:    %[[OUT:.*]] = bufferization.to_tensor %out restrict writable
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[NUMBERS]], %[[OUT]] : tensor<4xf32>, tensor<4xi64>)
func.func private @position(%mx: memref<4x8xf32>, %out: memref<4xi64>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<4x8xf32> to tensor<4x8xf32>
  %n = tensor.empty() : tensor<4xf32>
  %p = tensor.empty() : tensor<4xi64>
  %best, %at = "linalg.generic"(%x, %n, %p) <{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>],
      operandSegmentSizes = array<i32: 1, 2>
    }> ({
  ^bb0(%a: f32, %b: f32, %c: i64):
    linalg.yield %b, %c : f32, i64
  }) : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>)
  bufferization.materialize_in_destination %at in restrict writable %out : (tensor<4xi64>, memref<4xi64>) -> ()
  func.return
}
