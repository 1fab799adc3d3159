// RUN: xrelay-opt --split-input-file -p store-parts,divide-between-threads %s | filecheck %s

// Only margins are filled, each once, and the loop of the inside is divided.
//
// CHECK-LABEL: @padded
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 0 : i64, turns = 32 : i64, loops = 2 : i64}]
// CHECK-NOT:     linalg.fill
// CHECK:         %[[TOP:.*]] = memref.subview %out[0, 0] [1, 1028] [1, 1]
// CHECK-NEXT:    linalg.generic {{.*}} ins(%c : f32) outs(%[[TOP]] : {{.*}} attrs = {xrelay.untiled}
// CHECK:         %[[LEFT:.*]] = memref.subview %out[1, 0] [512, 4] [1, 1]
// CHECK-NEXT:    linalg.generic {{.*}} ins(%c : f32) outs(%[[LEFT]] :
// CHECK-NOT:     linalg.generic {{.*}} ins(%c : f32)
// CHECK:         %[[IN:.*]] = memref.subview %out[1, 4] [512, 1024] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : memref<512x1024xf32>) outs(%[[IN]] : {{.*}} attrs = {xrelay.part}
// CHECK-NOT:     materialize_in_destination
func.func private @padded(%mx: memref<512x1024xf32>, %out: memref<513x1028xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<512x1024xf32> to tensor<512x1024xf32>
  %c = arith.constant 1.0 : f32
  %e = bufferization.to_tensor %out restrict writable : memref<513x1028xf32> to tensor<513x1028xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<513x1028xf32>) -> tensor<513x1028xf32>
  %s = tensor.extract_slice %f[1, 4] [512, 1024] [1, 1] : tensor<513x1028xf32> to tensor<512x1024xf32>
  %g = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<512x1024xf32>) outs(%s : tensor<512x1024xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = math.exp %e0 : f32
    linalg.yield %v : f32
  } -> tensor<512x1024xf32>
  %i = tensor.insert_slice %g into %f[1, 4] [512, 1024] [1, 1] : tensor<512x1024xf32> into tensor<513x1028xf32>
  bufferization.materialize_in_destination %i in restrict writable %out : (tensor<513x1028xf32>, memref<513x1028xf32>) -> ()
  func.return
}

// -----

// What is computed on a join is computed on its parts, which are divided.
//
// CHECK-LABEL: @joined
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 0 : i64, turns = 32 : i64, loops = 2 : i64}]
// CHECK:         %[[A:.*]] = memref.subview %out[0, 0] [512, 256] [1, 1]
// CHECK:         %[[WA:.*]] = memref.subview %{{.*}}[0] [256] [1]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[WA]] : {{.*}} outs(%[[A]] : {{.*}} attrs = {xrelay.part}
// CHECK:           arith.mulf
// CHECK:         %[[B:.*]] = memref.subview %out[0, 256] [512, 768] [1, 1]
// CHECK:         %[[WB:.*]] = memref.subview %{{.*}}[256] [768] [1]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[WB]] : {{.*}} outs(%[[B]] : {{.*}} attrs = {xrelay.part}
// CHECK:           arith.mulf
func.func private @joined(%mx: memref<512x256xf32>, %my: memref<512x768xf32>, %mw: memref<1024xf32>, %out: memref<512x1024xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<512x256xf32> to tensor<512x256xf32>
  %y = bufferization.to_tensor %my restrict : memref<512x768xf32> to tensor<512x768xf32>
  %w = bufferization.to_tensor %mw restrict : memref<1024xf32> to tensor<1024xf32>
  %e = bufferization.to_tensor %out restrict writable : memref<512x1024xf32> to tensor<512x1024xf32>
  %s = tensor.extract_slice %e[0, 0] [512, 256] [1, 1] : tensor<512x1024xf32> to tensor<512x256xf32>
  %g = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<512x256xf32>) outs(%s : tensor<512x256xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<512x256xf32>
  %i = tensor.insert_slice %g into %e[0, 0] [512, 256] [1, 1] : tensor<512x256xf32> into tensor<512x1024xf32>
  %t = tensor.extract_slice %i[0, 256] [512, 768] [1, 1] : tensor<512x1024xf32> to tensor<512x768xf32>
  %h = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y : tensor<512x768xf32>) outs(%t : tensor<512x768xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<512x768xf32>
  %k = tensor.insert_slice %h into %i[0, 256] [512, 768] [1, 1] : tensor<512x768xf32> into tensor<512x1024xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%w : tensor<1024xf32>) outs(%k : tensor<512x1024xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<512x1024xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x1024xf32>, memref<512x1024xf32>) -> ()
  func.return
}

// -----

// The parts of a large join are copied a row at a time, in one loop that is divided.
//
// CHECK-LABEL: @copied_join
// CHECK-DAG:     %[[X:.*]] = bufferization.to_buffer %x read_only
// CHECK-DAG:     %[[Y:.*]] = bufferization.to_buffer %y read_only
// CHECK-DAG:     %[[LEFT:.*]] = memref.subview %out[0, 0] [64, 512] [1, 1]
// CHECK-DAG:     %[[RIGHT:.*]] = memref.subview %out[0, 512] [64, 256] [1, 1]
// CHECK:         scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%{{.*}}) step
// CHECK-DAG:       memref.subview %[[X]][%[[I]], 0] [1, 512] [1, 1]
// CHECK-DAG:       memref.subview %[[LEFT]][%[[I]], 0] [1, 512] [1, 1]
// CHECK:           memref.copy
// CHECK-DAG:       memref.subview %[[Y]][%[[I]], 0] [1, 256] [1, 1]
// CHECK-DAG:       memref.subview %[[RIGHT]][%[[I]], 0] [1, 256] [1, 1]
// CHECK:           memref.copy
// CHECK-NOT:     memref.copy
func.func private @copied_join(%mx: memref<64x512xf32>, %my: memref<64x256xf32>, %out: memref<64x768xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<64x512xf32> to tensor<64x512xf32>
  %y = bufferization.to_tensor %my restrict : memref<64x256xf32> to tensor<64x256xf32>
  %e = bufferization.to_tensor %out restrict writable : memref<64x768xf32> to tensor<64x768xf32>
  %s = tensor.extract_slice %e[0, 0] [64, 512] [1, 1] : tensor<64x768xf32> to tensor<64x512xf32>
  %g = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<64x512xf32>) outs(%s : tensor<64x512xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<64x512xf32>
  %i = tensor.insert_slice %g into %e[0, 0] [64, 512] [1, 1] : tensor<64x512xf32> into tensor<64x768xf32>
  %t = tensor.extract_slice %i[0, 512] [64, 256] [1, 1] : tensor<64x768xf32> to tensor<64x256xf32>
  %h = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y : tensor<64x256xf32>) outs(%t : tensor<64x256xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    linalg.yield %e0 : f32
  } -> tensor<64x256xf32>
  %j = tensor.insert_slice %h into %i[0, 512] [64, 256] [1, 1] : tensor<64x256xf32> into tensor<64x768xf32>
  bufferization.materialize_in_destination %j in restrict writable %out : (tensor<64x768xf32>, memref<64x768xf32>) -> ()
  func.return
}

// -----

// A padded join stays.
//
// CHECK-LABEL: @padded_join
// CHECK-NOT:     xrelay.schedule
// CHECK:         linalg.fill
// CHECK-NOT:     memref.subview
func.func private @padded_join(%mx: memref<2x4xf32>, %my: memref<2x4xf32>, %out: memref<2x12xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<2x4xf32> to tensor<2x4xf32>
  %y = bufferization.to_tensor %my restrict : memref<2x4xf32> to tensor<2x4xf32>
  %c = arith.constant 1.0 : f32
  %e = bufferization.to_tensor %out restrict writable : memref<2x12xf32> to tensor<2x12xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x12xf32>) -> tensor<2x12xf32>
  %i = tensor.insert_slice %x into %f[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x12xf32>
  %j = tensor.insert_slice %y into %i[0, 4] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x12xf32>
  bufferization.materialize_in_destination %j in restrict writable %out : (tensor<2x12xf32>, memref<2x12xf32>) -> ()
  func.return
}
