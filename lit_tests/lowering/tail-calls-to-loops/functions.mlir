// RUN: xrelay-opt --split-input-file -p 'tail-calls-to-loops,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p tail-calls-to-loops %s | mlir-opt --split-input-file -o /dev/null
// RUN: xrelay-opt --split-input-file -p tail-calls-to-loops --print-debuginfo %s | mlir-opt --split-input-file -o /dev/null

// A parameter of static shape has memory for all turns; one that is passed on stays as it is.
//
// CHECK-LABEL: @static(%c: memref<i1>, %x: memref<4xf32>, %w: memref<4xf32>) -> memref<4xf32> {
// CHECK-NEXT:    %[[X:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK-NEXT:    memref.copy %x, %[[X]]
// CHECK-NEXT:    %[[R:.*]] = scf.while : () -> memref<4xf32> {
// CHECK-NEXT:      %b = memref.load %c[]
// CHECK-NEXT:      %[[Y:.*]], %[[AGAIN:.*]] = scf.if %b -> (memref<4xf32>, i1) {
// CHECK-NEXT:        %t = memref.alloc()
// CHECK-NEXT:        func.call @k(%[[X]], %w, %t)
// CHECK-NEXT:        memref.copy %t, %[[X]]
// CHECK-NEXT:        %[[NONE:.*]] = ub.poison : memref<4xf32>
// CHECK-NEXT:        memref.dealloc %t
// CHECK-NEXT:        %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT:        scf.yield %[[NONE]], %[[TRUE]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %u = memref.alloc()
// CHECK-NEXT:        memref.copy %[[X]], %u
// CHECK-NEXT:        %[[FALSE:.*]] = arith.constant false
// CHECK-NEXT:        scf.yield %u, %[[FALSE]]
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.condition(%[[AGAIN]]) %[[Y]]
// CHECK:         memref.dealloc %[[X]]
// CHECK-NEXT:    func.return %[[R]]
func.func private @k(memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
func.func private @static(%c: memref<i1>, %x: memref<4xf32>, %w: memref<4xf32>) -> memref<4xf32> {
  %b = memref.load %c[] : memref<i1>
  %r = scf.if %b -> (memref<4xf32>) {
    %t = memref.alloc() : memref<4xf32>
    func.call @k(%x, %w, %t) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
    %z = func.call @static(%c, %t, %w) : (memref<i1>, memref<4xf32>, memref<4xf32>) -> memref<4xf32>
    memref.dealloc %t : memref<4xf32>
    scf.yield %z : memref<4xf32>
  } else {
    %u = memref.alloc() : memref<4xf32>
    "memref.copy"(%x, %u) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %u : memref<4xf32>
  }
  func.return %r : memref<4xf32>
}

// -----

// A turn owns a parameter of dynamic shape, and the next takes over what is allocated for it.
//
// CHECK-LABEL: @dynamic(%c: memref<i1>, %x: memref<?xf32>) -> memref<?xf32> {
// CHECK:         %[[FIRST:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?xf32>
// CHECK-NEXT:    memref.copy %x, %[[FIRST]]
// CHECK-NEXT:    %{{.*}}, %[[R:.*]] = scf.while (%[[X:.*]] = %[[FIRST]]) : (memref<?xf32>) -> (memref<?xf32>, memref<?xf32>) {
// CHECK:           %[[Y:.*]], %[[AGAIN:.*]], %[[NEXT:.*]] = scf.if
// CHECK:             %t = memref.alloc(%n)
// CHECK-NEXT:        func.call @k(%[[X]], %t)
// CHECK-NEXT:        %[[NONE:.*]] = ub.poison
// CHECK-NEXT:        %{{.*}} = memref.extract_strided_metadata %[[X]]
// CHECK-NEXT:        memref.dealloc %{{.*}} : memref<f32>
// CHECK-NEXT:        %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT:        scf.yield %[[NONE]], %[[TRUE]], %t
// CHECK-NEXT:      } else {
// CHECK:             memref.copy %[[X]], %u
// CHECK-NEXT:        %{{.*}} = memref.extract_strided_metadata %[[X]]
// CHECK-NEXT:        memref.dealloc %{{.*}} : memref<f32>
// CHECK:           scf.condition(%[[AGAIN]]) %[[NEXT]], %[[Y]]
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^{{.*}}(%[[N:.*]]: memref<?xf32>, %{{.*}}: memref<?xf32>):
// CHECK-NEXT:      scf.yield %[[N]]
// CHECK:         func.return %[[R]]
func.func private @k(memref<?xf32>, memref<?xf32>) -> ()
func.func private @dynamic(%c: memref<i1>, %x: memref<?xf32>) -> memref<?xf32> {
  %b = memref.load %c[] : memref<i1>
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %r = scf.if %b -> (memref<?xf32>) {
    %t = memref.alloc(%n) : memref<?xf32>
    func.call @k(%x, %t) : (memref<?xf32>, memref<?xf32>) -> ()
    %z = func.call @dynamic(%c, %t) : (memref<i1>, memref<?xf32>) -> memref<?xf32>
    memref.dealloc %t : memref<?xf32>
    scf.yield %z : memref<?xf32>
  } else {
    %u = memref.alloc(%n) : memref<?xf32>
    "memref.copy"(%x, %u) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %u : memref<?xf32>
  }
  func.return %r : memref<?xf32>
}

// -----

// Parameters that change places are copied before they are overwritten; the stack does not grow.
//
// CHECK-LABEL: @swap
// CHECK:         %[[X:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %x, %[[X]]
// CHECK-NEXT:    %[[Y:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %y, %[[Y]]
// CHECK-NEXT:    %s = memref.alloca() : memref<2xi64>
// CHECK-NEXT:    scf.while
// CHECK:           %[[A:.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy %[[Y]], %[[A]]
// CHECK-NEXT:      %[[B:.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy %[[X]], %[[B]]
// CHECK-NEXT:      memref.copy %[[A]], %[[X]]
// CHECK-NEXT:      memref.copy %[[B]], %[[Y]]
// CHECK-NEXT:      memref.dealloc %[[A]]
// CHECK-NEXT:      memref.dealloc %[[B]]
func.func private @k(memref<2xi64>) -> ()
func.func private @swap(%x: memref<4xf32>, %y: memref<4xf32>) -> memref<4xf32> {
  %s = memref.alloca() : memref<2xi64>
  func.call @k(%s) : (memref<2xi64>) -> ()
  %z = func.call @swap(%y, %x) : (memref<4xf32>, memref<4xf32>) -> memref<4xf32>
  func.return %z : memref<4xf32>
}

// -----

// A call whose result is used is recursion.
//
// CHECK-LABEL: @not_last
// CHECK-NOT:     scf.while
// CHECK:         func.call @not_last
func.func private @k(memref<4xf32>, memref<4xf32>) -> ()
func.func private @not_last(%x: memref<4xf32>) -> memref<4xf32> {
  %z = func.call @not_last(%x) : (memref<4xf32>) -> memref<4xf32>
  func.call @k(%x, %z) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return %z : memref<4xf32>
}

// -----

// The next turn takes over several allocations, in whatever order they would be freed.
//
// CHECK-LABEL: @both
// CHECK:         scf.while (%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK:           scf.if
// CHECK:             func.call @k(%[[X]], %t)
// CHECK-NEXT:        %u = memref.alloc(%n)
// CHECK-NEXT:        func.call @k(%[[Y]], %u)
// CHECK-NOT:         memref.dealloc %u
// CHECK-NOT:         memref.dealloc %t
// CHECK:             scf.yield %{{.*}}, %{{.*}}, %t, %u
func.func private @k(memref<?xf32>, memref<?xf32>) -> ()
func.func private @both(%c: memref<i1>, %x: memref<?xf32>, %y: memref<?xf32>) -> memref<?xf32> {
  %b = memref.load %c[] : memref<i1>
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %r = scf.if %b -> (memref<?xf32>) {
    %t = memref.alloc(%n) : memref<?xf32>
    func.call @k(%x, %t) : (memref<?xf32>, memref<?xf32>) -> ()
    %u = memref.alloc(%n) : memref<?xf32>
    func.call @k(%y, %u) : (memref<?xf32>, memref<?xf32>) -> ()
    %z = func.call @both(%c, %t, %u) : (memref<i1>, memref<?xf32>, memref<?xf32>) -> memref<?xf32>
    memref.dealloc %u : memref<?xf32>
    memref.dealloc %t : memref<?xf32>
    scf.yield %z : memref<?xf32>
  } else {
    %v = memref.alloc(%n) : memref<?xf32>
    "memref.copy"(%x, %v) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %v : memref<?xf32>
  }
  func.return %r : memref<?xf32>
}
