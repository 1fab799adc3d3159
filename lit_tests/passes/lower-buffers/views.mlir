// RUN: xrelay-opt --split-input-file -p lower-buffers %s | filecheck %s

// A buffer is a view of the bytes of its storage, which is freed at the end.
//
// CHECK-LABEL: @is_a_view
// CHECK-NEXT:    %[[S:.*]] = memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK-NEXT:    %[[O:.*]] = arith.constant 64 : index
// CHECK-NEXT:    %[[B:.*]] = memref.view %[[S]][%[[O]]][] : memref<128xi8> to memref<16xf32>
// CHECK-NEXT:    memref.copy %{{.*}}, %[[B]]
// CHECK-NEXT:    memref.dealloc %[[S]] : memref<128xi8>
// CHECK-NEXT:    func.return
func.func @is_a_view(%x: memref<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %b = memory.buffer %s[64] : memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  func.return
}

// -----

// Sizes and offsets may be computed.
//
// CHECK-LABEL: @of_dynamic_size
// CHECK:         %[[N:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK-NEXT:    %[[S:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?xi8>
// CHECK-NEXT:    %[[O:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK-NEXT:    memref.view %[[S]][%[[O]]][%{{.*}}] : memref<?xi8> to memref<?xf32>
func.func @of_dynamic_size(%bytes: i64, %o: i64, %n: index) {
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %b = memory.buffer %s[%o] sizes(%n) : memref<?xf32>
  linalg.copy ins(%b : memref<?xf32>) outs(%b : memref<?xf32>)
  func.return
}

// -----

// A memref with strides is a view of its elements.
//
// CHECK-LABEL: @with_strides
// CHECK:         %[[V:.*]] = memref.view %{{.*}} : memref<64xi8> to memref<12xf32>
// CHECK-NEXT:    memref.reinterpret_cast %[[V]] to offset: [0], sizes: [2, 4], strides: [8, 1]
func.func @with_strides() {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %b = memory.buffer %s[0] : memref<2x4xf32, strided<[8, 1]>>
  linalg.copy ins(%b : memref<2x4xf32, strided<[8, 1]>>) outs(%b : memref<2x4xf32, strided<[8, 1]>>)
  func.return
}

// -----

// Of several blocks, the storage is freed wherever the function is left.
//
// CHECK-LABEL: @of_several_blocks
// CHECK:         memref.alloc()
// CHECK:         cf.cond_br
// CHECK:         memref.dealloc
// CHECK-NEXT:    func.return
// CHECK:         memref.dealloc
// CHECK-NEXT:    func.return
func.func @of_several_blocks(%c: i1) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %b = memory.buffer %s[0] : memref<4xf32>
  cf.cond_br %c, ^one, ^other
^one:
  linalg.copy ins(%b : memref<4xf32>) outs(%b : memref<4xf32>)
  func.return
^other:
  func.return
}
