// RUN: xrelay-opt --split-input-file -p compute-in-destinations %s | filecheck %s

// An intermediate value along open dims is computed in the result, whose dims are the same.
//
// CHECK-LABEL: @exp_of_exp
// CHECK:         %[[R:.*]] = bufferization.to_tensor %out restrict writable
// CHECK-NEXT:    %[[E:.*]] = linalg.generic {{.*}} ins(%x : {{.*}}) outs(%[[R]] :
// CHECK:         linalg.generic {{.*}} outs(%[[E]] :
func.func private @exp_of_exp(%mx: memref<?xf32>, %out: memref<?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?xf32> to tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %old: f32):
    %s = math.exp %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %f = tensor.empty(%n) : tensor<?xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%v: f32, %old: f32):
    %s = math.exp %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %b in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  func.return
}

// -----

// Another operand may have as many elements, and the result may lie over it: it is read before the first write.
//
// CHECK-LABEL: @reads_after
// CHECK-NOT:     restrict writable %out :
// CHECK:         bufferization.materialize_in_destination
func.func private @reads_after(%mx: memref<?xf32>, %my: memref<?xf32>, %out: memref<?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?xf32> to tensor<?xf32>
  %y = bufferization.to_tensor %my restrict : memref<?xf32> to tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %old: f32):
    %s = math.exp %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %f = tensor.empty(%n) : tensor<?xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %y : tensor<?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%v: f32, %w: f32, %old: f32):
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %b in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  func.return
}
