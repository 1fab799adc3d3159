// RUN: xrelay-opt --split-input-file -p plan-memref %s | filecheck %s

// Inputs in the manner of upstream's tests of buffer deallocation, promotion to the stack, and
// static planning, each with the bytes that its arena has.

// One arm passes on an argument, the other one what it allocates.
//
// CHECK-LABEL: @cond_branch
// CHECK-NEXT:    memref.alloc() {{.*}} : memref<8xi8>
// CHECK-NOT:     memref.alloc()
func.func @cond_branch(%c: i1, %x: memref<2xf32>, %y: memref<2xf32>) {
  cf.cond_br %c, ^one, ^two
^one:
  cf.br ^three(%x : memref<2xf32>)
^two:
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  cf.br ^three(%a : memref<2xf32>)
^three(%b: memref<2xf32>):
  memref.copy %b, %y : memref<2xf32> to memref<2xf32>
  func.return
}

// -----

// A size that is a block argument is known in its block.
//
// CHECK-LABEL: @cond_branch_dynamic
// CHECK:       ^{{.*}}(%{{.*}}: index):
// CHECK:         memref.alloc(%{{.*}}) {{.*}} : memref<?xi8>
// CHECK:         memref.dealloc
// CHECK-NEXT:    cf.br
func.func @cond_branch_dynamic(%c: i1, %x: memref<?xf32>, %n: index) {
  cf.cond_br %c, ^one, ^two(%n : index)
^one:
  cf.br ^three
^two(%m: index):
  %a = memref.alloc(%m) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  memref.copy %a, %x : memref<?xf32> to memref<?xf32>
  cf.br ^three
^three:
  func.return
}

// -----

// A critical edge: what is passed on directly is needed there, too.
//
// CHECK-LABEL: @critical_edge
// CHECK-NEXT:    memref.alloc() {{.*}} : memref<8xi8>
func.func @critical_edge(%c: i1, %x: memref<2xf32>, %y: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  cf.cond_br %c, ^one, ^two(%a : memref<2xf32>)
^one:
  cf.br ^two(%x : memref<2xf32>)
^two(%b: memref<2xf32>):
  memref.copy %b, %y : memref<2xf32> to memref<2xf32>
  func.return
}

// -----

// Two buffers swap places at a join: both are needed.
//
// CHECK-LABEL: @if_else
// CHECK-NEXT:    memref.alloc() {{.*}} : memref<24xi8>
func.func @if_else(%c: i1, %x: memref<2xf32>, %y: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  cf.cond_br %c, ^one(%a, %x : memref<2xf32>, memref<2xf32>), ^two(%x, %a : memref<2xf32>, memref<2xf32>)
^one(%p: memref<2xf32>, %q: memref<2xf32>):
  cf.br ^end(%p, %q : memref<2xf32>, memref<2xf32>)
^two(%r: memref<2xf32>, %s: memref<2xf32>):
  cf.br ^end(%r, %s : memref<2xf32>, memref<2xf32>)
^end(%t: memref<2xf32>, %u: memref<2xf32>):
  %b = memref.alloc() : memref<2xf32>
  memref.copy %t, %b : memref<2xf32> to memref<2xf32>
  memref.copy %u, %y : memref<2xf32> to memref<2xf32>
  memref.copy %b, %y : memref<2xf32> to memref<2xf32>
  func.return
}

// -----

// A loop carries what is from outside; what a turn allocates shares bytes with what is dead.
//
// CHECK-LABEL: @nested_loops
// CHECK:         memref.alloc() {{.*}} : memref<128xi8>
// CHECK-NOT:     memref.alloc()
// CHECK:         scf.for
// CHECK:           scf.for
func.func @nested_loops(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %early = memref.alloc() : memref<32xf32>
  memref.copy %early, %early : memref<32xf32> to memref<32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (memref<16xf32>) {
    %a = memref.alloc() : memref<16xf32>
    memref.copy %y, %a : memref<16xf32> to memref<16xf32>
    scf.for %j = %c0 to %n step %c1 {
      %b = memref.alloc() : memref<16xf32>
      memref.copy %a, %b : memref<16xf32> to memref<16xf32>
      memref.copy %b, %x : memref<16xf32> to memref<16xf32>
    }
    scf.yield %y : memref<16xf32>
  }
  func.return
}

// -----

// Of arms that exclude each other, the larger one counts.
//
// CHECK-LABEL: @nested_ifs
// CHECK-NEXT:    memref.alloc() {{.*}} : memref<96xi8>
func.func @nested_ifs(%c: i1, %d: i1, %x: memref<16xf32>, %y: memref<8xf32>) {
  scf.if %c {
    %a = memref.alloc() : memref<8xf32>
    memref.copy %y, %a : memref<8xf32> to memref<8xf32>
    scf.if %d {
      %b = memref.alloc() : memref<16xf32>
      memref.copy %x, %b : memref<16xf32> to memref<16xf32>
    } else {
      %b = memref.alloc() : memref<8xf32>
      memref.copy %y, %b : memref<8xf32> to memref<8xf32>
    }
    memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  } else {
    %a = memref.alloc() : memref<16xf32>
    memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  }
  func.return
}

// -----

// Views of views keep a buffer alive; element types may differ.
//
// CHECK-LABEL: @chain_of_views
// CHECK-NEXT:    memref.alloc() {{.*}} : memref<80xi8>
func.func @chain_of_views(%x: memref<4x4xf32>, %y: memref<2xf64>) {
  %a = memref.alloc() : memref<4x4xf32>
  memref.copy %x, %a : memref<4x4xf32> to memref<4x4xf32>
  %v = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %w = memref.expand_shape %v [[0, 1]] output_shape [2, 8] : memref<16xf32> into memref<2x8xf32>
  %s = memref.subview %w[0, 0] [1, 8] [1, 1] : memref<2x8xf32> to memref<8xf32, strided<[1]>>
  %b = memref.alloc() : memref<2xf64>
  memref.copy %y, %b : memref<2xf64> to memref<2xf64>
  memref.copy %b, %y : memref<2xf64> to memref<2xf64>
  memref.copy %s, %s : memref<8xf32, strided<[1]>> to memref<8xf32, strided<[1]>>
  func.return
}

// -----

// A region is entered at its first block: what a later block of it needs is not needed before it.
//
// CHECK-LABEL: @enter_at_the_first_block
// CHECK-NEXT:    memref.alloc() {{.*}} : memref<16xi8>
// CHECK-NOT:     memref.alloc()
func.func @enter_at_the_first_block(%x: memref<4xf32>, %c: i1) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %a, %x : memref<4xf32> to memref<4xf32>
  scf.execute_region {
    %b = memref.alloc() : memref<4xf32>
    memref.copy %x, %b : memref<4xf32> to memref<4xf32>
    cf.cond_br %c, ^one, ^two
  ^one:
    memref.copy %b, %x : memref<4xf32> to memref<4xf32>
    cf.br ^two
  ^two:
    scf.yield
  }
  func.return
}

// -----

// `scf.reduce` without operands may be omitted; each turn has an arena of its own.
//
// CHECK-LABEL: @parallel
// CHECK:         scf.parallel
// CHECK:           memref.alloc() {{.*}} : memref<16xi8>
// CHECK-NOT:       memref.alloc()
func.func @parallel(%x: memref<2x4xf32>, %c0: index, %c1: index, %c2: index) {
  scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    %v = memref.load %x[%i, %c0] : memref<2x4xf32>
    memref.store %v, %a[%c0] : memref<4xf32>
    memref.dealloc %a : memref<4xf32>
    memref.store %v, %b[%c1] : memref<4xf32>
    memref.dealloc %b : memref<4xf32>
  }
  func.return
}
