// RUN: xrelay-opt -p lower-buffers %s | filecheck %s

// A storage that a call lends is a view of bytes, of the type that the callee expects.
//
// CHECK-LABEL: @static
// CHECK-SAME:    %[[W:.*]]: memref<64xi8>
// CHECK-NEXT:    %[[B:.*]] = memref.assume_alignment %[[W]], 64 : memref<64xi8>
// CHECK:         memref.view %[[B]][%{{.*}}][] : memref<64xi8> to memref<16xf32>
func.func private @static(%w: !memory.storage {memory.workspace = array<i64>, memory.alignment = 64 : i64, memory.size = 64 : i64}) {
  %b = memory.buffer %w[0] : memref<16xf32>
  linalg.copy ins(%b : memref<16xf32>) outs(%b : memref<16xf32>)
  func.return
}

// CHECK-LABEL: @dynamic
// CHECK-SAME:    memref<?xi8>
// CHECK:         memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<64xi8>
// CHECK-NEXT:    func.call @static
func.func private @dynamic(%x: memref<?xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>, memory.alignment = 64 : i64}) {
  %s = memory.slice_storage %w[0] size 64 align 64 : !memory.storage
  func.call @static(%s) : (!memory.storage) -> ()
  func.return
}

// CHECK-LABEL: @main
// CHECK:         %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK:         memref.view %[[A]][%{{.*}}][] : memref<128xi8> to memref<64xi8>
// CHECK-NEXT:    func.call @static
// CHECK:         %[[D:.*]] = memref.cast %[[A]] : memref<128xi8> to memref<?xi8>
// CHECK-NEXT:    func.call @dynamic(%{{.*}}, %[[D]])
// CHECK:         memref.dealloc %[[A]]
func.func @main(%x: memref<?xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.slice_storage %s[64] size 64 align 64 : !memory.storage
  func.call @static(%t) : (!memory.storage) -> ()
  func.call @dynamic(%x, %s) : (memref<?xf32>, !memory.storage) -> ()
  func.return
}
