// RUN: xrelay-opt --split-input-file -p sum-in-blocks %s | filecheck %s

// The sum of a long row is that of the sums of its blocks; what else the loop writes is written a block at a time.
//
// CHECK-LABEL: @powers
// CHECK:         %[[TOTAL:.*]] = memref.alloca() : memref<f32>
// CHECK-NEXT:    %[[PART:.*]] = memref.alloca() : memref<f32>
// CHECK:         linalg.fill {{.*}} outs(%[[TOTAL]] :
// CHECK:         scf.for %[[AT:.*]] = %{{.*}} to %[[N:.*]] step %{{.*}} {
// CHECK:           %[[LEFT:.*]] = arith.subi %[[N]], %[[AT]] : index
// CHECK-NEXT:      %[[SIZE:.*]] = arith.minsi %{{.*}}, %[[LEFT]] : index
// CHECK-NEXT:      %[[X:.*]] = memref.subview %x[%[[AT]]] [%[[SIZE]]] [1]
// CHECK-NEXT:      %[[OUT:.*]] = memref.subview %out[%[[AT]]] [%[[SIZE]]] [1]
// CHECK:           linalg.fill {{.*}} outs(%[[PART]] :
// CHECK-NEXT:      linalg.generic {{.*}} ins(%[[X]], %least : {{.*}}) outs(%[[OUT]], %[[PART]] :
// CHECK:           %[[BEFORE:.*]] = memref.load %[[TOTAL]][]
// CHECK-NEXT:      %[[BLOCK:.*]] = memref.load %[[PART]][]
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[BLOCK]] : f32
// CHECK-NEXT:      memref.store %[[SUM]], %[[TOTAL]][]
func.func private @powers(%x: memref<?xf32>, %least: memref<f32>, %out: memref<?xf32>) attributes {xrelay.kernel} {
  %zero = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<f32>
  linalg.fill ins(%zero : f32) outs(%total : memref<f32>)
  linalg.generic {
      indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>, affine_map<(j) -> (j)>, affine_map<(j) -> ()>],
      iterator_types = ["reduction"]
    } ins(%x, %least : memref<?xf32>, memref<f32>) outs(%out, %total : memref<?xf32>, memref<f32>) attrs = {xrelay.untiled} {
  ^bb0(%a: f32, %m: f32, %b: f32, %s: f32):
    %d = arith.subf %a, %m : f32
    %v = math.exp %d : f32
    %t = arith.addf %v, %s fastmath<reassoc> : f32
    linalg.yield %v, %t : f32, f32
  }
  func.return
}

// -----

// Blocks are whole where the row is.
//
// CHECK-LABEL: @whole
// CHECK-NOT:     arith.minsi
// CHECK:         memref.subview %x[%{{.*}}] [512] [1]
func.func private @whole(%x: memref<1024xf32>) attributes {xrelay.kernel} {
  %total = memref.alloca() : memref<f32>
  linalg.generic {
      indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>], iterator_types = ["reduction"]
    } ins(%x : memref<1024xf32>) outs(%total : memref<f32>) attrs = {xrelay.untiled} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  func.return
}

// -----

// A short row is one block; a maximum does not round; a sum in f64 hardly does; and one whose order is given keeps it.
//
// CHECK-LABEL: @others
// CHECK-NOT:     scf.for
func.func private @others(%x: memref<512xf32>, %y: memref<?xf32>, %z: memref<?xf64>) attributes {xrelay.kernel} {
  %total = memref.alloca() : memref<f32>
  %double = memref.alloca() : memref<f64>
  linalg.generic {
      indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>], iterator_types = ["reduction"]
    } ins(%x : memref<512xf32>) outs(%total : memref<f32>) attrs = {xrelay.untiled} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.generic {
      indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>], iterator_types = ["reduction"]
    } ins(%y : memref<?xf32>) outs(%total : memref<f32>) attrs = {xrelay.untiled} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %a, %s : f32
    linalg.yield %t : f32
  }
  linalg.generic {
      indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>], iterator_types = ["reduction"]
    } ins(%z : memref<?xf64>) outs(%double : memref<f64>) attrs = {xrelay.untiled} {
  ^bb0(%a: f64, %s: f64):
    %t = arith.addf %a, %s fastmath<reassoc> : f64
    linalg.yield %t : f64
  }
  linalg.generic {
      indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>], iterator_types = ["reduction"]
    } ins(%y : memref<?xf32>) outs(%total : memref<f32>) attrs = {xrelay.untiled} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  }
  func.return
}
