// RUN: xrelay-opt --verify-diagnostics -p 'plan-memref{pools="1=100"}' %s

// A memory space with a capacity is a pool.

func.func @does_not_fit(%x: memref<16xf32, 1>) {
  // expected-error @below {{need 128 bytes, but pool 1 has 100}}
  %a = memref.alloc() : memref<16xf32, 1>
  memref.copy %x, %a : memref<16xf32, 1> to memref<16xf32, 1>
  %b = memref.alloc() : memref<16xf32, 1>
  memref.copy %a, %b : memref<16xf32, 1> to memref<16xf32, 1>
  func.return
}
