// RUN: xrelay-opt --verify-diagnostics -p 'plan-memref{pools="1=100"}' %s

// A memory space with a capacity is a pool. The error is at the moment when bytes are missing, and
// its notes are at what is live then, the largest first.

func.func @does_not_fit(%x: memref<16xf32, 1>, %y: memref<8xf32, 1>, %z: memref<20xf32, 1>) {
  %early = memref.alloc() : memref<16xf32, 1>
  memref.copy %x, %early : memref<16xf32, 1> to memref<16xf32, 1>
  // expected-note @below {{32 bytes are live then}}
  %b = memref.alloc() : memref<8xf32, 1>
  memref.copy %y, %b : memref<8xf32, 1> to memref<8xf32, 1>
  // expected-error @below {{3 buffers need 112 bytes, but pool 1 has 100: 12 bytes are missing here}}
  // expected-note @below {{80 bytes are live then}}
  %c = memref.alloc() : memref<20xf32, 1>
  memref.copy %z, %c : memref<20xf32, 1> to memref<20xf32, 1>
  memref.copy %b, %y : memref<8xf32, 1> to memref<8xf32, 1>
  memref.copy %c, %z : memref<20xf32, 1> to memref<20xf32, 1>
  func.return
}
