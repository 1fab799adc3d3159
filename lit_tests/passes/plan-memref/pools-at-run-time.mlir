// RUN: xrelay-opt --split-input-file -p 'plan-memref{pools="default=100"}' %s | filecheck %s

// Whether dynamic sizes fit is known when the program runs; what is there in the pool is counted.
//
// CHECK-NOT:   memory.pools
// CHECK-LABEL: @at_run_time
// CHECK:         %[[TOTAL:.*]] = arith.muli
// CHECK:         %[[COUNTER:.*]] = memref.get_global @bytes_in_pool_default
// CHECK-NEXT:    %[[BEFORE:.*]] = memref.atomic_rmw addi %[[TOTAL]], %[[COUNTER]][]
// CHECK-NEXT:    %[[BOTH:.*]] = arith.addi %[[BEFORE]], %[[TOTAL]]
// CHECK:         %[[FITS:.*]] = arith.cmpi sle, %[[BOTH]], %c100
// CHECK-NEXT:    cf.assert %[[FITS]], "storages need more than the 100 bytes of pool default"
// CHECK:         memref.alloc
// CHECK:         scf.parallel
// CHECK:           memref.atomic_rmw addi %c36
// CHECK:           cf.assert
// CHECK:           memref.alloc
// CHECK:           memref.dealloc
// CHECK-NEXT:      %[[LESS:.*]] = arith.constant -36
// CHECK:           memref.atomic_rmw addi %[[LESS]]
// CHECK:         memref.dealloc
// CHECK:         memref.atomic_rmw addi
// CHECK:         func.return
// CHECK:         memref.global "private" @bytes_in_pool_default : memref<i64> = dense<0>
func.func @at_run_time(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %b = memref.alloc() : memref<9xf32>
    %c = memref.cast %b : memref<9xf32> to memref<?xf32>
    memref.copy %a, %c : memref<?xf32> to memref<?xf32>
    memref.copy %c, %x : memref<?xf32> to memref<?xf32>
    scf.reduce
  }
  func.return
}

// -----

// A size that is small enough by its bounds needs no check.
//
// CHECK-LABEL: @bounded
// CHECK-NOT:     cf.assert
func.func @bounded(%x: memref<?xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c99 = arith.constant 99 : index
  %m = arith.minsi %n, %c99 : index
  %k = arith.maxsi %m, %c0 : index
  %a = memref.alloc(%k) : memref<?xi8>
  memref.copy %x, %a : memref<?xi8> to memref<?xi8>
  memref.copy %a, %x : memref<?xi8> to memref<?xi8>
  func.return
}
