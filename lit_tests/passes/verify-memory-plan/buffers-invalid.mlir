// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

func.func @overlap(%x: memref<16xf32>, %y: memref<16xf32>) {
  %s = memory.alloc_storage 96 align 16 : !memory.storage
  // expected-note @below {{one is defined here}}
  %a = memory.buffer %s[0] : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  // expected-note @below {{one is defined here}}
  %b = memory.buffer %s[32] : memref<16xf32>
  // expected-error @below {{memref.copy uses a buffer while another one needs its bytes: bytes [32, 96) and [0, 64) of one storage overlap}}
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  // expected-note @below {{the other is needed here}}
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  func.return
}

// -----

func.func @overlap_in_a_loop(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = memory.alloc_storage 64 align 16 : !memory.storage
  // expected-note @below {{one is defined here}}
  %a = memory.buffer %s[0] : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %a, %x : memref<16xf32> to memref<16xf32>
    // expected-note @below {{one is defined here}}
    %b = memory.buffer %s[0] : memref<16xf32>
    // expected-error @below {{uses a buffer while another one needs its bytes}}
    memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  }
  func.return
}

// -----

func.func @is_carried(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = memory.alloc_storage 64 align 16 : !memory.storage
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (memref<16xf32>) {
    // expected-error @below {{a buffer is carried to the next turn of a loop}}
    %a = memory.buffer %s[0] : memref<16xf32>
    memref.copy %y, %a : memref<16xf32> to memref<16xf32>
    scf.yield %a : memref<16xf32>
  }
  func.return
}

// -----

func.func @is_returned() -> memref<16xf32> {
  %s = memory.alloc_storage 64 align 16 : !memory.storage
  // expected-error @below {{a buffer is returned, whose storage is freed}}
  %a = memory.buffer %s[0] : memref<16xf32>
  func.return %a : memref<16xf32>
}

// -----

func.func @is_freed() {
  %s = memory.alloc_storage 64 align 16 : !memory.storage
  // expected-note @below {{the buffer is defined here}}
  %a = memory.buffer %s[0] : memref<16xf32>
  // expected-error @below {{memref.dealloc frees a buffer that lies in a storage}}
  memref.dealloc %a : memref<16xf32>
  func.return
}

// -----

func.func @is_captured() {
  %s = memory.alloc_storage 64 align 16 : !memory.storage
  // expected-note @below {{the buffer is defined here}}
  %a = memory.buffer %s[0] : memref<16xf32>
  // expected-error @below {{cannot tell how long a buffer is needed that test.op may capture}}
  "test.op"(%a) : (memref<16xf32>) -> ()
  func.return
}

// -----

func.func @is_not_aligned() {
  %s = memory.alloc_storage 64 align 16 : !memory.storage
  // expected-error @below {{the offset of a buffer of f32 must be a multiple of 4, but 2 is not}}
  %a = memory.buffer %s[2] : memref<4xf32>
  func.return
}

// -----

func.func @outlives_its_storage(%x: memref<16xf32>, %c: i1) {
  %r = scf.if %c -> (memref<16xf32>) {
    %s = memory.alloc_storage 64 align 16 : !memory.storage
    // expected-error @below {{a buffer is needed after its storage is freed}}
    %a = memory.buffer %s[0] : memref<16xf32>
    memref.copy %x, %a : memref<16xf32> to memref<16xf32>
    // expected-note @below {{the storage is freed before this}}
    scf.yield %a : memref<16xf32>
  } else {
    scf.yield %x : memref<16xf32>
  }
  memref.copy %r, %x : memref<16xf32> to memref<16xf32>
  func.return
}

// -----

func.func @sizes_that_may_overlap(%x: memref<?xf32>, %n: index, %k: i64) {
  %s = memory.alloc_storage %k align 16 : !memory.storage
  // expected-error @below {{cannot show that a buffer at bytes}}
  // expected-note @above {{the storage is allocated here}}
  %a = memory.buffer %s[0] sizes(%n) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  func.return
}

// -----

func.func @is_shared_by_threads(%x: memref<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  // expected-note @below {{this may run it more than once at a time}}
  scf.forall (%i) in (8) {
    // expected-error @below {{a buffer needs a storage of its own in each thread}}
    %a = memory.buffer %s[0] : memref<16xf32>
    memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  }
  func.return
}

// -----

func.func @is_used_later(%x: memref<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  // expected-note @below {{the buffer is defined here}}
  %a = memory.buffer %s[0] : memref<16xf32>
  %t = async.execute {
    scf.execute_region {
      // expected-error @below {{cannot tell how long a buffer is needed that memref.copy may capture}}
      memref.copy %x, %a : memref<16xf32> to memref<16xf32>
      scf.yield
    }
    async.yield
  }
  func.return
}
