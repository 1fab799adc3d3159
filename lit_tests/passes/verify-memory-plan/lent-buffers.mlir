// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s | filecheck %s

// What a call lends is apart from what is needed after it.
//
// CHECK-LABEL: @apart
func.func private @callee(%w: !memory.storage {memory.workspace = array<i64>, memory.alignment = 64 : i64}) {
  %b = memory.buffer %w[0] : memref<16xf32>
  linalg.copy ins(%b : memref<16xf32>) outs(%b : memref<16xf32>)
  func.return
}
func.func @apart(%x: memref<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %a = memory.buffer %s[0] : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %t = memory.slice_storage %s[64] size 64 align 64 : !memory.storage
  func.call @callee(%t) : (!memory.storage) -> ()
  memref.copy %a, %x : memref<16xf32> to memref<16xf32>
  func.return
}

// -----

func.func private @callee(%w: !memory.storage {memory.workspace = array<i64>, memory.alignment = 64 : i64}) {
  %b = memory.buffer %w[0] : memref<16xf32>
  linalg.copy ins(%b : memref<16xf32>) outs(%b : memref<16xf32>)
  func.return
}
func.func @overlaps(%x: memref<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  // expected-note @below {{one is defined here}}
  %a = memory.buffer %s[32] : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  // expected-note @below {{one is defined here}}
  %t = memory.slice_storage %s[64] size 64 align 64 : !memory.storage
  // expected-error @below {{func.call uses a buffer while another one needs its bytes: bytes [64, 128) and [32, 96) of one storage overlap}}
  func.call @callee(%t) : (!memory.storage) -> ()
  // expected-note @below {{the other is needed here}}
  memref.copy %a, %x : memref<16xf32> to memref<16xf32>
  func.return
}

// -----

// A callee has room for its buffers, for the dims of the call.

func.func private @callee(%x: memref<?xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>, memory.alignment = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  // expected-note @below {{they are needed here}}
  %b = memory.buffer %w[0] sizes(%n) : memref<?xf32>
  memref.copy %x, %b : memref<?xf32> to memref<?xf32>
  func.return
}
func.func @too_small(%x: memref<16xf32>) {
  // expected-note @below {{is allocated here}}
  %s = memory.alloc_storage 48 align 64 : !memory.storage
  %y = memref.cast %x : memref<16xf32> to memref<?xf32>
  // expected-error @below {{cannot show that storage 1 is large enough for @callee: it needs 64 bytes, but has 48}}
  func.call @callee(%y, %s) : (memref<?xf32>, !memory.storage) -> ()
  func.return
}
