// RUN: xrelay-opt --split-input-file -p pack-buffers %s | filecheck %s

// A memref lives from its first use to the last one; where it is freed does not matter.
//
// CHECK-LABEL: @lives_while_it_is_used
// CHECK:         %[[P:.*]] = memory.pack align 16
// CHECK-NEXT:    %[[A:.*]] = memory.slice %[[P]] [0, 2) 64
// CHECK-NEXT:    %[[B:.*]] = memory.slice %[[P]] [1, 2) 64
// CHECK-NEXT:    %[[C:.*]] = memory.slice %[[P]] [2, 3) 64
// CHECK-NEXT:    %[[T:.*]] = memory.total %[[P]]
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage %[[T]] align 16
// CHECK-NEXT:    memory.buffer %[[S]][%[[A]]] : memref<16xf32>
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    memory.buffer %[[S]][%[[B]]] : memref<16xf32>
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    memory.buffer %[[S]][%[[C]]] : memref<16xf32>
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    func.return
func.func @lives_while_it_is_used(%x: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  memref.copy %a, %b : memref<16xf32> to memref<16xf32>
  memref.copy %x, %c : memref<16xf32> to memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %c : memref<16xf32>
  func.return
}

// -----

// A view is an alias: its use is one of the memref.
//
// CHECK-LABEL: @lives_while_a_view_is_used
// CHECK:         memory.slice %{{.*}} [0, 3) 64
// CHECK-NEXT:    memory.slice %{{.*}} [1, 2) 64
func.func @lives_while_a_view_is_used(%x: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %v = memref.subview %a[0] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1]>>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  memref.copy %v, %v : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1]>>
  func.return
}

// -----

// What is from outside a loop and used there lives until the loop ends; what a turn defines does
// not.
//
// CHECK-LABEL: @lives_through_a_loop
// CHECK:         memory.slice %{{.*}} [0, 5) 64
// CHECK-NEXT:    memory.slice %{{.*}} [1, 2) 64
// CHECK-NEXT:    memory.slice %{{.*}} [3, 4) 64
// CHECK:         scf.for
func.func @lives_through_a_loop(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<16xf32>
    memref.copy %a, %b : memref<16xf32> to memref<16xf32>
    %c = memref.alloc() : memref<16xf32>
    memref.copy %x, %c : memref<16xf32> to memref<16xf32>
  }
  func.return
}

// -----

// Memrefs of arms of a branch of blocks share bytes; a block argument is an alias of both.
//
// CHECK-LABEL: @branches_of_blocks
// CHECK:         memory.slice %{{.*}} [0, 1) 64
// CHECK-NEXT:    memory.slice %{{.*}} [2, 3) 64
// CHECK:         cf.cond_br
func.func @branches_of_blocks(%x: memref<16xf32>, %b: i1) {
  cf.cond_br %b, ^one, ^other
^one:
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  cf.br ^end
^other:
  %c = memref.alloc() : memref<16xf32>
  memref.copy %x, %c : memref<16xf32> to memref<16xf32>
  cf.br ^join(%c : memref<16xf32>)
^join(%d: memref<16xf32>):
  memref.copy %d, %x : memref<16xf32> to memref<16xf32>
  memref.dealloc %d : memref<16xf32>
  cf.br ^end
^end:
  func.return
}

// -----

// The body of a parallel loop has an arena of its own: its turns may run at once.
//
// CHECK-LABEL: @a_parallel_body_has_its_own
// CHECK-NEXT:    scf.forall
// CHECK-NEXT:      memory.pack
func.func @a_parallel_body_has_its_own(%x: memref<16xf32>) {
  scf.forall (%i) in (8) {
    %a = memref.alloc() : memref<16xf32>
    memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  }
  func.return
}

// -----

// A size that is computed later begins another arena.
//
// CHECK-LABEL: @a_later_size
// CHECK:         %[[P:.*]] = memory.pack
// CHECK-NEXT:    memory.slice %[[P]] [0, 1) 64
// CHECK:         memref.load
// CHECK:         %[[BYTES:.*]] = arith.muli
// CHECK-NEXT:    %[[Q:.*]] = memory.pack
// CHECK-NEXT:    memory.slice %[[Q]] [0, 1) %[[BYTES]]
// CHECK:         memory.buffer %{{.*}}[%{{.*}}] sizes(%{{.*}}) : memref<?xf32>
func.func @a_later_size(%x: memref<16xindex>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xindex>
  memref.copy %a, %a : memref<8xindex> to memref<8xindex>
  %n = memref.load %x[%c0] : memref<16xindex>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %b, %y : memref<?xf32> to memref<?xf32>
  func.return
}

// -----

// Memrefs of one arena keep their alignments: the arena has the largest.
//
// CHECK-LABEL: @has_an_alignment
// CHECK:         %[[P:.*]] = memory.pack align 128
// CHECK-NEXT:    memory.slice %[[P]] [0, 1) 64 align 16
// CHECK-NEXT:    memory.slice %[[P]] [0, 1) 64
func.func @has_an_alignment() {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() {alignment = 128 : i64} : memref<16xf32>
  memref.copy %a, %b : memref<16xf32> to memref<16xf32>
  func.return
}

// -----

// Each memory space has an arena; an alignment is kept.
//
// CHECK-LABEL: @memory_spaces
// CHECK:         memory.alloc_storage %{{.*}} align 16 : !memory.storage
// CHECK:         memory.pack align 128
// CHECK:         memory.alloc_storage %{{.*}} align 128 : !memory.storage<#
func.func @memory_spaces(%x: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() {alignment = 128 : i64} : memref<16xf32, 1>
  %c = memref.memory_space_cast %b : memref<16xf32, 1> to memref<16xf32>
  memref.copy %x, %c : memref<16xf32> to memref<16xf32>
  func.return
}
