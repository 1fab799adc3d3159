// RUN: xrelay-opt --split-input-file -p plan-memref %s | filecheck %s

// Inputs in the manner of xDSL's filecheck tests of memref, linalg, stencil and affine.

// Sizes that ops of unknown effects return, a layout with an offset, and a memory space.
//
// CHECK-LABEL: @memref_test
// CHECK:         %[[STRIDED:.*]] = memref.alloc() {alignment = 16 : i64} : memref<3080xi8, 2 : i32>
// CHECK:         %[[SIZES:.*]] = memref.alloc(%{{.*}}) {alignment = 16 : i64} : memref<?xi8>
// CHECK-COUNT-2: memref.view %[[SIZES]]
// CHECK:         memref.dealloc
// CHECK:         memref.dealloc
// CHECK-NEXT:    func.return
func.func private @memref_test() {
  %0 = "test.op"() : () -> index
  %1 = "test.op"() : () -> index
  %c0 = arith.constant 0 : index
  %v = arith.constant 1 : index
  %2 = memref.alloc() : memref<64x64xindex, strided<[2, 4], offset: 6>, 2 : i32>
  %3 = memref.alloc(%0) : memref<?xindex>
  %4 = memref.alloc(%0, %1) : memref<?x?xindex>
  memref.store %v, %2[%c0, %c0] : memref<64x64xindex, strided<[2, 4], offset: 6>, 2 : i32>
  memref.store %v, %3[%c0] : memref<?xindex>
  memref.store %v, %4[%c0, %c0] : memref<?x?xindex>
  %5 = memref.load %3[%c0] : memref<?xindex>
  %6 = memref.load %2[%c0, %c0] : memref<64x64xindex, strided<[2, 4], offset: 6>, 2 : i32>
  memref.dealloc %2 : memref<64x64xindex, strided<[2, 4], offset: 6>, 2 : i32>
  memref.dealloc %3 : memref<?xindex>
  memref.dealloc %4 : memref<?x?xindex>
  func.return
}

// -----

// A chain of generic ops: the third result lies where the first one lay.
//
// CHECK-LABEL: @chain
// CHECK:         %[[ARENA:.*]] = memref.alloc() {alignment = 16 : i64} : memref<1024xi8>
// CHECK:         %[[LOW:.*]] = arith.constant 0 : index
// CHECK:         memref.view %[[ARENA]][%[[LOW]]]
// CHECK:         %[[HIGH:.*]] = arith.constant 512 : index
// CHECK:         memref.view %[[ARENA]][%[[HIGH]]]
// CHECK:         %[[AGAIN:.*]] = arith.constant 0 : index
// CHECK:         memref.view %[[ARENA]][%[[AGAIN]]]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func public @chain(%X: memref<8x8xf64>, %Y: memref<8x8xf64>) {
  %a = memref.alloc() {alignment = 16 : i64} : memref<8x8xf64>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%X : memref<8x8xf64>) outs(%a : memref<8x8xf64>) {
  ^bb0(%in: f64, %out: f64):
    %s = arith.addf %in, %in : f64
    linalg.yield %s : f64
  }
  %b = memref.alloc() {alignment = 16 : i64} : memref<8x8xf64>
  linalg.add ins(%a, %X : memref<8x8xf64>, memref<8x8xf64>) outs(%b : memref<8x8xf64>)
  %c = memref.alloc() {alignment = 16 : i64} : memref<8x8xf64>
  linalg.mul ins(%b, %X : memref<8x8xf64>, memref<8x8xf64>) outs(%c : memref<8x8xf64>)
  linalg.sub ins(%c, %X : memref<8x8xf64>, memref<8x8xf64>) outs(%Y : memref<8x8xf64>)
  func.return
}

// -----

// Time steps of a stencil swap two buffers: both are needed, and what a step allocates besides.
//
// CHECK-LABEL: @time_steps
// CHECK:         memref.alloc() {alignment = 16 : i64} : memref<768xi8>
// CHECK-NOT:     memref.alloc()
func.func @time_steps(%x: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = memref.alloc() : memref<64xf32>
  %two = memref.alloc() : memref<64xf32>
  memref.copy %x, %one : memref<64xf32> to memref<64xf32>
  %r, %s = scf.for %t = %c0 to %n step %c1 iter_args(%from = %one, %to = %two) -> (memref<64xf32>, memref<64xf32>) {
    %tmp = memref.alloc() : memref<64xf32>
    affine.for %i = 1 to 63 {
      %left = affine.load %from[%i - 1] : memref<64xf32>
      %right = affine.load %from[%i + 1] : memref<64xf32>
      %sum = arith.addf %left, %right : f32
      affine.store %sum, %tmp[%i] : memref<64xf32>
    }
    memref.copy %tmp, %to : memref<64xf32> to memref<64xf32>
    memref.dealloc %tmp : memref<64xf32>
    scf.yield %to, %from : memref<64xf32>, memref<64xf32>
  }
  memref.copy %r, %x : memref<64xf32> to memref<64xf32>
  func.return
}

// -----

// Atomic updates, prefetches and subscripts with symbols are uses like others.
//
// CHECK-LABEL: @histogram
// CHECK:         memref.alloc() {alignment = 16 : i64} : memref<128xi8>
// CHECK:         memref.atomic_rmw addi
// CHECK:         affine.prefetch
// CHECK:         affine.load %{{.*}}[symbol(%{{.*}}) + 1]
func.func @histogram(%x: memref<100xi32>, %y: memref<16xi32>, %n: index) {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %bins = memref.alloc() : memref<16xi32>
  linalg.fill ins(%zero : i32) outs(%bins : memref<16xi32>)
  scf.parallel (%i) = (%n) to (%n) step (%n) {
    %v = memref.load %x[%i] : memref<100xi32>
    %bin = arith.index_cast %v : i32 to index
    %old = memref.atomic_rmw addi %one, %bins[%bin] : (i32, memref<16xi32>) -> i32
    scf.reduce
  }
  %copy = memref.alloc() : memref<16xi32>
  memref.copy %bins, %copy : memref<16xi32> to memref<16xi32>
  affine.prefetch %copy[symbol(%n) + 1], read, locality<3>, data : memref<16xi32>
  %w = affine.load %copy[symbol(%n) + 1] : memref<16xi32>
  memref.copy %copy, %y : memref<16xi32> to memref<16xi32>
  func.return
}
