// RUN: xrelay-opt --split-input-file -p plan-memref %s | filecheck %s

// Memrefs that are never live together share bytes.
//
// CHECK-LABEL: @share_bytes
// CHECK-NEXT:    %[[S:.*]] = memref.alloc() {alignment = 16 : i64} : memref<64xi8>
// CHECK-NEXT:    %[[A:.*]] = arith.constant 0 : index
// CHECK-NEXT:    memref.view %[[S]][%[[A]]][] : memref<64xi8> to memref<16xf32>
// CHECK:         %[[B:.*]] = arith.constant 0 : index
// CHECK-NEXT:    memref.view %[[S]][%[[B]]][] : memref<64xi8> to memref<8xf32>
// CHECK:         memref.dealloc %[[S]] : memref<64xi8>
// CHECK-NEXT:    func.return
func.func @share_bytes(%x: memref<16xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %y, %b : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  func.return
}

// -----

// Offsets of dynamic sizes are arithmetic.
//
// CHECK-LABEL: @of_dynamic_sizes
// CHECK:         %[[C:.*]] = arith.constant 0 : index
// CHECK:         memref.dim %{{.*}}, %[[C]]
// CHECK:         arith.muli
// CHECK:         memref.alloc(%{{.*}}) {alignment = 16 : i64} : memref<?xi8>
// CHECK:         memref.view %{{.*}}[%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK:         memref.view %{{.*}}[%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK:         memref.dealloc
func.func @of_dynamic_sizes(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  memref.copy %b, %x : memref<?xf32> to memref<?xf32>
  func.return
}

// -----

// Elements may be vectors and complex numbers: three floats take the bytes of four.
//
// CHECK-LABEL: @elements
// CHECK-NEXT:    memref.alloc() {alignment = 16 : i64} : memref<64xi8>
// CHECK:         memref.view %{{.*}} : memref<64xi8> to memref<4xvector<3xf32>>
// CHECK:         memref.view %{{.*}} : memref<64xi8> to memref<4xcomplex<f32>>
func.func @elements(%x: memref<4xvector<3xf32>>, %y: memref<4xcomplex<f32>>) {
  %a = memref.alloc() : memref<4xvector<3xf32>>
  memref.copy %x, %a : memref<4xvector<3xf32>> to memref<4xvector<3xf32>>
  memref.copy %a, %x : memref<4xvector<3xf32>> to memref<4xvector<3xf32>>
  %b = memref.alloc() : memref<4xcomplex<f32>>
  memref.copy %y, %b : memref<4xcomplex<f32>> to memref<4xcomplex<f32>>
  memref.copy %b, %y : memref<4xcomplex<f32>> to memref<4xcomplex<f32>>
  func.return
}
