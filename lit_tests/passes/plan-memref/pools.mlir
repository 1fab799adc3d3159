// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'plan-memref{pools="1=100"}' %s

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

// -----

// Dynamic sizes are as small as their bounds allow.

func.func @at_least(%x: memref<?xi8, 1>, %n: index) {
  %c70 = arith.constant 70 : index
  %m = arith.maxsi %n, %c70 : index
  // expected-note @below {{at least 70 bytes are live then}}
  %a = memref.alloc(%m) : memref<?xi8, 1>
  memref.copy %x, %a : memref<?xi8, 1> to memref<?xi8, 1>
  // expected-error @below {{2 buffers need at least 102 bytes, but pool 1 has 100: 2 bytes are missing here}}
  // expected-note @below {{at least 32 bytes are live then}}
  %b = memref.alloc() : memref<32xi8, 1>
  %c = memref.cast %b : memref<32xi8, 1> to memref<?xi8, 1>
  memref.copy %a, %c : memref<?xi8, 1> to memref<?xi8, 1>
  func.return
}

// -----

// Arenas that are there together, also those of callees, share the pool.

func.func @callee(%x: memref<60xi8, 1>) {
  %a = memref.alloc() : memref<60xi8, 1>
  memref.copy %x, %a : memref<60xi8, 1> to memref<60xi8, 1>
  func.return
}
func.func @arenas(%x: memref<60xi8, 1>, %n: index) {
  // expected-note @below {{this is allocated then}}
  %a = memref.alloc() : memref<60xi8, 1>
  memref.copy %x, %a : memref<60xi8, 1> to memref<60xi8, 1>
  // expected-error @below {{120 bytes of storages are needed, but pool 1 has 100: 20 bytes are missing here}}
  func.call @callee(%x) : (memref<60xi8, 1>) -> ()
  memref.copy %a, %x : memref<60xi8, 1> to memref<60xi8, 1>
  func.return
}
