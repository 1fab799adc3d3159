// RUN: xrelay-opt --verify-diagnostics --split-input-file --remarks -p pack-buffers %s | filecheck %s

// A body that may run at once with others, or with what follows, has an arena of its own.
//
// CHECK-LABEL: @launched
// CHECK:         gpu.launch
// CHECK-NEXT:      memory.pack
// CHECK:           memory.buffer
// CHECK:           gpu.terminator
func.func @launched(%x: memref<16xf32>, %n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %a = memref.alloc() : memref<16xf32>
    memref.copy %x, %a : memref<16xf32> to memref<16xf32>
    gpu.terminator
  }
  func.return
}

// -----

// What code that runs later uses from outside may be in use after the last use that is seen here.
//
// CHECK-LABEL: @run_later
// CHECK:         memref.alloc
// CHECK:         async.execute
// CHECK-NEXT:      memory.pack
// CHECK:           memory.buffer
// CHECK:         async.execute
// CHECK-NEXT:      memref.alloc
func.func @run_later(%x: memref<16xf32>) {
  // expected-remark @below {{memref.alloc is left alone: used in a region of async.execute}}
  %outside = memref.alloc() : memref<16xf32>
  %t = async.execute {
    %a = memref.alloc() : memref<16xf32>
    memref.copy %x, %a : memref<16xf32> to memref<16xf32>
    memref.copy %a, %outside : memref<16xf32> to memref<16xf32>
    async.yield
  }
  %u, %v = async.execute -> !async.value<memref<16xf32>> {
    // expected-remark @below {{it outlives the region of async.execute that allocates it}}
    %b = memref.alloc() : memref<16xf32>
    async.yield %b : memref<16xf32>
  }
  %r = async.await %v : !async.value<memref<16xf32>>
  memref.copy %r, %x : memref<16xf32> to memref<16xf32>
  func.return
}
