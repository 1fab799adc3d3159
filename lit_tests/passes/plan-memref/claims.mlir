// RUN: xrelay-opt -p plan-memref -t smt2 %s | filecheck %s
// RUN: xrelay-opt -p plan-memref -t 'smt2{expanded}' %s | filecheck %s --check-prefix=ARITHMETIC

// Buffers that are needed together are claimed to be apart; %a and %c are not needed together.
//
// CHECK-COUNT-5: (check-sat)
// CHECK-NOT:     (check-sat)
// ARITHMETIC:    ; bytes [0, 4*n) and [16*{{.*}}) are apart
func.func @f(%x: memref<?xf32>, %n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  memref.copy %b, %c : memref<?xf32> to memref<?xf32>
  memref.copy %c, %x : memref<?xf32> to memref<?xf32>
  func.return
}
