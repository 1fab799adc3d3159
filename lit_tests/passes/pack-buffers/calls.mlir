// RUN: xrelay-opt --split-input-file -p pack-buffers %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'pack-buffers{arena=argument}' %s | filecheck %s --check-prefix=ARGUMENT

// The callers of a private function lend its arena: it is a slice of theirs, live at the call.
//
// CHECK-LABEL: @callee
// CHECK-SAME:    %[[W:[a-z]+]]: !memory.storage {memory.workspace = array<i64: 0>, memory.alignment = 64
// CHECK:         memory.pack align 64 within %[[W]]
// CHECK:         memory.buffer %[[W]]
// CHECK-LABEL: @main
// CHECK:         %[[N:.*]] = memref.dim %x
// CHECK:         %[[S:.*]] = memory.workspace_size @callee[1](%[[N]] : index)
// CHECK:         memory.slice %{{.*}} [0, 3) %{{.*}}
// CHECK-NEXT:    %[[O:.*]] = memory.slice %{{.*}} [1, 2) %[[S]]
// CHECK:         %[[ARENA:.*]] = memory.alloc_storage
// CHECK:         %[[PART:.*]] = memory.slice_storage %[[ARENA]][%[[O]]] size %[[S]] align 64
// CHECK-NEXT:    func.call @callee(%{{.*}}, %[[PART]])
//
// ARGUMENT-LABEL: @main
// ARGUMENT-SAME:    %[[W:[a-z]+]]: !memory.storage {memory.workspace = array<i64: 0>
// ARGUMENT:         memory.pack align 64 within %[[W]]
// ARGUMENT-LABEL: @main_arena_bytes
// ARGUMENT-SAME:    (%[[X:.*]]: memref<?xf32>) -> index
// ARGUMENT:         %[[N:.*]] = memref.dim %[[X]]
// ARGUMENT:         memory.workspace_size @main[1](%[[N]] : index)
func.func private @callee(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  memref.copy %a, %x : memref<?xf32> to memref<?xf32>
  func.return
}
func.func @main(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  func.call @callee(%a) : (memref<?xf32>) -> ()
  memref.copy %a, %x : memref<?xf32> to memref<?xf32>
  func.return
}

// -----

// A function that calls itself has an arena of its own, and one that a parallel body calls is lent
// that of the body.
//
// CHECK-LABEL: @recursive
// CHECK:         memory.alloc_storage
// CHECK-LABEL: @parallel
// CHECK:         scf.forall
// CHECK:           memory.pack
// CHECK:           memory.slice_storage
// CHECK-NEXT:      func.call @leaf
func.func private @recursive(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  func.call @recursive(%x) : (memref<4xf32>) -> ()
  func.return
}
func.func private @leaf(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  func.return
}
func.func @parallel(%x: memref<4xf32>) {
  scf.forall (%i) in (8) {
    func.call @leaf(%x) : (memref<4xf32>) -> ()
  }
  func.call @recursive(%x) : (memref<4xf32>) -> ()
  func.return
}

// -----

// A size of dims is computed before the branch that needs it; one from a block is computed there.
//
// CHECK-LABEL: @in_branches
// CHECK:         memory.slice %{{.*}} [0, 1) %{{.*}}
// CHECK:         scf.if
// CHECK-NEXT:      memory.buffer
// CHECK:         ^{{.*}}:
// CHECK:           memory.pack
// CHECK:           memory.buffer
func.func @in_branches(%x: memref<?xf32>, %y: memref<?xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.if %c {
    %a = memref.alloc(%n) : memref<?xf32>
    memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  }
  cf.cond_br %c, ^one, ^two
^one:
  %m = memref.dim %y, %c0 : memref<?xf32>
  cf.br ^more
^more:
  %b = memref.alloc(%m) : memref<?xf32>
  memref.copy %y, %b : memref<?xf32> to memref<?xf32>
  cf.br ^two
^two:
  func.return
}

// -----

// An arena is before the first use, in whatever order memrefs are allocated.
//
// CHECK-LABEL: @used_in_another_order
// CHECK:         memory.alloc_storage
// CHECK-NEXT:    %[[B:.*]] = memory.buffer %{{.*}} : memref<8xf32>
// CHECK-NEXT:    memref.copy %x, %[[B]]
// CHECK-NEXT:    memory.buffer
func.func @used_in_another_order(%x: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %x, %b : memref<8xf32> to memref<8xf32>
  memref.copy %b, %a : memref<8xf32> to memref<8xf32>
  func.return
}
