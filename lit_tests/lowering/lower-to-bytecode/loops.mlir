// RUN: xrelay-opt -p manifest-alloc,plan-memory,expand-packs,lower-to-bytecode %s | filecheck %s
// RUN: xrelay-opt -p manifest-alloc,plan-memory,expand-packs,convert-relay-to-linalg,convert-memory-to-memref %s | filecheck --check-prefix=MEMREF %s

#dev = #relay.device<cpu:0>

// A loop counts its turns, and jumps back. What it carries is moved to the register of the first turn.
//
// CHECK-LABEL: bytecode.func @main
// CHECK:         bytecode.take_rows r[[H:[0-9]+]], r{{.*}}[{{.*}}], r0[0] axis 0 : tensor<2x4xf32>
// CHECK-NEXT:    bytecode.load_consti r[[TURN:.*]], 0
// CHECK:         bytecode.load_consti r[[STEP:.*]], 2
// CHECK-NEXT:    bytecode.compute r[[OFFSET:.*]], "muli"(r[[TURN]], r[[STEP]])
// CHECK-NEXT:    bytecode.compute r[[ROW:.*]], "addi"(r[[OFFSET]], r[[STEP]])
// CHECK-NEXT:    bytecode.take_rows r{{.*}}[0], r0[r[[ROW]]] axis 0 : tensor<2x4xf32>
// CHECK:         bytecode.take_rows r[[N:[0-9]+]], r{{.*}}[0], r{{.*}}[0] axis 0 : tensor<2x4xf32>
// CHECK:         bytecode.move r[[H]], r[[N]]
// CHECK-NEXT:    bytecode.load_consti r[[ONE:.*]], 1
// CHECK-NEXT:    bytecode.compute r[[NEXT:.*]], "addi"(r[[TURN]], r[[ONE]])
// CHECK-NEXT:    bytecode.move r[[TURN]], r[[NEXT]]
// CHECK-NEXT:    bytecode.load_consti r[[COUNT:.*]], 4
// CHECK-NEXT:    bytecode.if r[[TURN]] eq r[[COUNT]] 1, -16
//
// On buffers, nothing is carried: each turn finds it where the one before has left it.
//
// MEMREF-LABEL: @main
// MEMREF:         %[[H:.*]] = memref.view
// MEMREF:         memref.copy
// MEMREF:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// MEMREF:           %[[OFFSET:.*]] = arith.muli %[[I]], %c2
// MEMREF-NEXT:      %[[ROW:.*]] = arith.addi %[[OFFSET]], %c2
// MEMREF:           %[[AT:.*]] = arith.muli %[[ROW]], %c4
// MEMREF-NEXT:      memref.subview %{{.*}}[%[[AT]]] [8] [1]
// MEMREF:           memref.copy
// MEMREF:           func.call @add(%[[H]],
// MEMREF:           memref.copy
// MEMREF:         }
// MEMREF:         func.return %[[H]]
func.func @main(%x: tensor<10x4xf32, #dev>) -> tensor<2x4xf32, #dev> {
  %h0 = relay.read_rows %x {axis = 0 : i64, start = 0 : i64} : (tensor<10x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %h = relay.loop %h0 {count = 4 : i64} : (tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %r = relay.read_rows %x {axis = 0 : i64, start = 2 : i64, step = 2 : i64} : (tensor<10x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %s = relay.call_lowered @add(%h, %r) : (tensor<2x4xf32, #dev>, tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %n = relay.read_rows %s {axis = 0 : i64, start = 0 : i64} : (tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %z = relay.end_loop %n : (tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  func.return %z : tensor<2x4xf32, #dev>
}
relay.prim_func @add(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = relay.add %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  relay.yield %c : tensor<2x4xf32>
}

// Rows in a ring of five move by its number of rows.
//
// CHECK-LABEL: bytecode.func @ring
// CHECK:         bytecode.compute r[[ROW:.*]], "addi"
// CHECK-NEXT:    bytecode.load_consti r[[ROWS:.*]], 5
// CHECK-NEXT:    bytecode.compute r[[PLACE:.*]], "remsi"(r[[ROW]], r[[ROWS]])
// CHECK-NEXT:    bytecode.take_rows r{{.*}}[0], r0[r[[PLACE]]] axis 0 : tensor<1x4xf32>
//
// MEMREF-LABEL: @ring
// MEMREF:         scf.for
// MEMREF:           %[[ROW:.*]] = arith.addi
// MEMREF-NEXT:      arith.remui %[[ROW]], %c5
func.func @ring(%x: tensor<5x4xf32, #dev>) -> tensor<1x4xf32, #dev> {
  %h0 = relay.read_rows %x {axis = 0 : i64, start = 0 : i64} : (tensor<5x4xf32, #dev>) -> tensor<1x4xf32, #dev>
  %h = relay.loop %h0 {count = 7 : i64} : (tensor<1x4xf32, #dev>) -> tensor<1x4xf32, #dev>
  %r = relay.read_rows %x {axis = 0 : i64, start = 2 : i64, step = 1 : i64, wraps} : (tensor<5x4xf32, #dev>) -> tensor<1x4xf32, #dev>
  %z = relay.end_loop %r : (tensor<1x4xf32, #dev>) -> tensor<1x4xf32, #dev>
  func.return %z : tensor<1x4xf32, #dev>
}

// Of open tensors, rows that they have are copied. Turns end after the last row of the result.
// What ops of a turn compute of its number, they share.
//
// CHECK-LABEL: bytecode.func @open
// CHECK:         bytecode.load_consti r[[STEP:.*]], 2
// CHECK-NEXT:    bytecode.compute r[[OFFSET:.*]], "muli"(r{{.*}}, r[[STEP]])
// CHECK-NEXT:    bytecode.load_consti r[[START:.*]], -1
// CHECK-NEXT:    bytecode.compute r[[ROW:.*]], "addi"(r[[OFFSET]], r[[START]])
// CHECK-NEXT:    bytecode.read_rows r0[r[[ROW]]] -> r[[T:.*]] axis 0 fill r3
// CHECK:         bytecode.compute r[[BOUND:.*]], "extract"(r2,
// CHECK-NEXT:    bytecode.fill_rows r3 -> r[[T]][r[[ROW]]] axis 0 bound r[[BOUND]]
// CHECK-NEXT:    bytecode.write_rows r[[T]][0] -> r1[r[[ROW]]] axis 0 rows 2
// CHECK:         bytecode.compute r[[LEFT:.*]], "floordivsi"
// CHECK:         bytecode.compute r[[TURNS:.*]], "maxsi"(r[[LEFT]]
// CHECK-NEXT:    bytecode.if r{{.*}} eq r[[TURNS]]
//
// MEMREF-LABEL: @open
// MEMREF:         %[[LEFT:.*]] = func.call @xrelay.floordivsi
// MEMREF:         %[[TURNS:.*]] = arith.maxsi %[[LEFT]]
// MEMREF-NEXT:    %[[STOP:.*]] = arith.index_cast %[[TURNS]] : i64 to index
// MEMREF-NEXT:    scf.for %{{.*}} = %{{.*}} to %[[STOP]]
// MEMREF:           %[[ROWS:.*]] = memref.dim %x
// MEMREF-NEXT:      %[[NEAR:.*]] = arith.minsi %{{.*}}, %[[ROWS]] : index
// MEMREF:           %[[START:.*]] = arith.maxsi %[[NEAR]]
// MEMREF:           memref.copy %{{.*}}, %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
// MEMREF:           %[[SIZE:.*]] = memref.load %s
// MEMREF-NEXT:      %[[BOUND:.*]] = arith.index_cast %[[SIZE]] : i64 to index
// MEMREF:           arith.maxsi %[[BOUND]]
func.func @open(%x: tensor<?x4xf32, #dev>, %y: tensor<?x4xf32, #dev>, %s: tensor<2xi64, #dev>, %v: tensor<f32, #dev>) -> tensor<?x4xf32, #dev> {
  %h = relay.loop %y {axis = 0 : i64, start = -1 : i64, step = 2 : i64} : (tensor<?x4xf32, #dev>) -> tensor<?x4xf32, #dev>
  %r = relay.read_rows %x fill %v : tensor<f32, #dev> {axis = 0 : i64, start = -1 : i64, step = 2 : i64} : (tensor<?x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %f = relay.fill_rows %r, %v, %s {axis = 0 : i64, start = -1 : i64, step = 2 : i64} : (tensor<2x4xf32, #dev>, tensor<f32, #dev>, tensor<2xi64, #dev>) -> tensor<2x4xf32, #dev>
  %w = relay.write_rows %f, %h {axis = 0 : i64, count = 2 : i64, source = 0 : i64, start = -1 : i64, step = 2 : i64} : (tensor<2x4xf32, #dev>, tensor<?x4xf32, #dev>) -> tensor<?x4xf32, #dev>
  %z = relay.end_loop %w : (tensor<?x4xf32, #dev>) -> tensor<?x4xf32, #dev>
  func.return %z : tensor<?x4xf32, #dev>
}

// Of a known number of rows, those that are there are copied in the same way.
//
// CHECK-LABEL: bytecode.func @clips
// CHECK:         bytecode.read_rows r0[r[[ROW:.*]]] -> r[[T:.*]] axis 0 fill r2
// CHECK:         bytecode.fill_rows r2 -> r[[T]][r[[ROW]]] axis 0 bound 5
// CHECK-NEXT:    bytecode.write_rows r[[T]][0] -> r1[r[[ROW]]] axis 0 rows 2
// CHECK:         bytecode.load_consti r[[TURNS:.*]], 3
// CHECK-NEXT:    bytecode.if r{{.*}} eq r[[TURNS]]
//
// MEMREF-LABEL: @clips
// MEMREF:         scf.for
// MEMREF:           %[[NEAR:.*]] = arith.minsi %{{.*}}, %c5
// MEMREF:           memref.copy %{{.*}}, %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
// MEMREF:           arith.minsi %{{.*}}, %c5
// MEMREF:           memref.copy %{{.*}}, %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
func.func @clips(%x: tensor<5x4xf32, #dev>, %y: tensor<5x4xf32, #dev>, %v: tensor<f32, #dev>) -> tensor<5x4xf32, #dev> {
  %h = relay.loop %y {count = 3 : i64} : (tensor<5x4xf32, #dev>) -> tensor<5x4xf32, #dev>
  %r = relay.read_rows %x fill %v : tensor<f32, #dev> {axis = 0 : i64, start = -1 : i64, step = 2 : i64} : (tensor<5x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %s = relay.constant dense<[5, 4]> : tensor<2xi64> on #dev
  %f = relay.fill_rows %r, %v, %s {axis = 0 : i64, start = -1 : i64, step = 2 : i64} : (tensor<2x4xf32, #dev>, tensor<f32, #dev>, tensor<2xi64, #dev>) -> tensor<2x4xf32, #dev>
  %w = relay.write_rows %f, %h {axis = 0 : i64, clips, count = 2 : i64, start = -1 : i64, step = 2 : i64} : (tensor<2x4xf32, #dev>, tensor<5x4xf32, #dev>) -> tensor<5x4xf32, #dev>
  %z = relay.end_loop %w : (tensor<5x4xf32, #dev>) -> tensor<5x4xf32, #dev>
  func.return %z : tensor<5x4xf32, #dev>
}

// A kernel runs in the turns in which it is needed.
//
// CHECK-LABEL: bytecode.func @turns
// CHECK:         bytecode.load_consti r[[TURN:.*]], 0
// CHECK:         bytecode.invoke_packed @add(r0, r0) -> (r{{.*}}) turn r[[TURN]] in [1, 3]
// CHECK:         bytecode.if r[[TURN]] eq
//
// MEMREF-LABEL: @turns
// MEMREF:         scf.for %[[TURN:.*]] = %{{.*}} to %{{.*}} step
// MEMREF:           %[[SINCE:.*]] = arith.subi %[[TURN]], %c1
// MEMREF-NEXT:      %[[NEEDED:.*]] = arith.cmpi ult, %[[SINCE]], %c2
// MEMREF-NEXT:      scf.if %[[NEEDED]] {
// MEMREF-NEXT:        func.call @add(%x, %x, %{{.*}})
// MEMREF-NEXT:      }
func.func @turns(%x: tensor<2x4xf32, #dev>, %y: tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev> {
  %h = relay.loop %y {count = 5 : i64} : (tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %s = relay.call_lowered @add(%x, %x) {turns = array<i64: 1, 3>} : (tensor<2x4xf32, #dev>, tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %w = relay.write_rows %s, %h {axis = 0 : i64, count = 2 : i64, start = 0 : i64} : (tensor<2x4xf32, #dev>, tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  %z = relay.end_loop %w : (tensor<2x4xf32, #dev>) -> tensor<2x4xf32, #dev>
  func.return %z : tensor<2x4xf32, #dev>
}
