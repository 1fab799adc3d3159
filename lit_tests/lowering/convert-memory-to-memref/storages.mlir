// RUN: xrelay-opt --split-input-file -p 'convert-memory-to-memref,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// A storage is allocated as bytes, a tensor is a view at its offset.
//
// CHECK-LABEL: @view_of_a_storage
// CHECK:         %[[S:.*]] = memref.alloc() {alignment = 128 : i64} : memref<96xi8>
// CHECK-NEXT:    %[[A:.*]] = memref.view %[[S]][%c0][] : memref<96xi8> to memref<4x2xf32>
// CHECK-NEXT:    %[[B:.*]] = memref.view %[[S]][%c64][] : memref<96xi8> to memref<8xi8>
// CHECK-NEXT:    func.call @k(%x, %[[A]], %[[B]])
// CHECK-NEXT:    memref.dealloc %[[S]]
// CHECK-NEXT:    func.return
func.func @view_of_a_storage(%x: tensor<4x2xf32>) {
  %s = memory.alloc_storage 96 align 128 : !memory.storage
  %a = memory.alloc_tensor %s[0] : tensor<4x2xf32>
  %b = memory.alloc_tensor %s[64] : tensor<8xui8>
  %y, %z = vm.invoke_tvm_op @k ins(%x : tensor<4x2xf32>) outs(%a, %b : tensor<4x2xf32>, tensor<8xui8>) -> tensor<4x2xf32>, tensor<8xui8>
  func.return
}
relay.prim_func @k(%a: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<8xui8>) {
  %b = relay.cast %a {dtype = ui8} : (tensor<4x2xf32>) -> tensor<4x2xui8>
  %c = relay.reshape %b {newshape = array<i64: 8>} : (tensor<4x2xui8>) -> tensor<8xui8>
  relay.yield %a, %c : tensor<4x2xf32>, tensor<8xui8>
}

// -----

// A slice of a storage is a storage; its tensors are freed with the whole.
//
// CHECK-LABEL: @slice_of_a_storage
// CHECK:         %[[S:.*]] = memref.alloc() {alignment = 64 : i64} : memref<256xi8>
// CHECK-NEXT:    %[[W:.*]] = memref.view %[[S]][%c64][] : memref<256xi8> to memref<128xi8>
// CHECK-NEXT:    %[[T:.*]] = memref.view %[[W]][%c16][] : memref<128xi8> to memref<4xf32>
// CHECK-NEXT:    func.call @k(%x, %[[T]])
// CHECK-NEXT:    memref.dealloc %[[S]] : memref<256xi8>
func.func @slice_of_a_storage(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  %w = memory.slice_storage %s[64] size 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %w[16] : tensor<4xf32>
  %y = vm.invoke_tvm_op @k ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// What is copied to a gpu is copied by its runtime.
//
// CHECK-LABEL: @copy_to_gpu
// CHECK:         %[[S:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16xi8, "cuda:0">
// CHECK:         %[[T:.*]] = memref.view %[[S]][%c0][] : memref<16xi8, "cuda:0"> to memref<4xf32, "cuda:0">
// CHECK:         "gpu.memcpy"(%[[T]], {{.*}}memref<4xf32, "cuda:0">
func.func @copy_to_gpu(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cuda:0>>
  %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

// A size that is computed is checked, as are the dims and the end of a tensor.
//
// CHECK-LABEL: @dynamic_storage
// CHECK:         %[[D:.*]] = memref.dim %x, %c0
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK-NEXT:    %[[BYTES:.*]] = func.call @xrelay.muli(%[[N]], %c32{{.*}})
// CHECK-NEXT:    %[[SIZE:.*]] = func.call @xrelay.size(%[[BYTES]]) : (i64) -> index
// CHECK-NEXT:    %[[S:.*]] = memref.alloc(%[[SIZE]]) {alignment = 64 : i64} : memref<?xi8>
// CHECK-NEXT:    %[[DIM:.*]] = func.call @xrelay.dim(%[[N]]) : (i64) -> index
// CHECK-NEXT:    %[[NEED:.*]] = func.call @xrelay.muli(%[[N]], %c32
// CHECK-NEXT:    %[[ROOM:.*]] = memref.dim %[[S]], %c0
// CHECK-NEXT:    %[[AT:.*]] = func.call @xrelay.place(%[[NEED]], %{{.*}}, %[[ROOM]])
// CHECK-NEXT:    %{{.*}} = memref.view %[[S]][%[[AT]]][%[[DIM]]] : memref<?xi8> to memref<?x8xf32>
// CHECK:         func.func private @xrelay.muli(%a: i64, %b: i64) -> i64 {
// CHECK:           arith.mulsi_extended
func.func @dynamic_storage(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %i = arith.constant 0 : index
  %c32 = arith.constant 32 : i64
  %c8 = arith.constant 8 : i64
  %shape = vm.shape_of %x : (tensor<?x8xf32>) -> tensor<2xi64>
  %n = tensor.extract %shape[%i] : tensor<2xi64>
  %bytes = arith.muli %n, %c32 : i64
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %out = tensor.from_elements %n, %c8 : tensor<2xi64>
  %t = memory.alloc_tensor %s[0] shape %out : tensor<2xi64> -> tensor<?x8xf32>
  %y = vm.invoke_tvm_op @k ins(%x : tensor<?x8xf32>) outs(%t : tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %y : tensor<?x8xf32>
}
relay.prim_func @k(%a: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %b = relay.exp %a : (tensor<?x8xf32>) -> tensor<?x8xf32>
  relay.yield %b : tensor<?x8xf32>
}

// -----

// A view of other dims copies nothing.
//
// CHECK-LABEL: @reshape
// CHECK:         %[[V:.*]] = memref.reinterpret_cast %x to offset: [0], sizes: [2, 6], strides: [6, 1] : memref<3x4xf32> to memref<2x6xf32>
// CHECK-NOT:     memref.copy
// CHECK:         func.call @k(%[[V]]
func.func @reshape(%x: tensor<3x4xf32>, %w: !memory.storage {memory.result = 0 : i64}) -> tensor<2x6xf32> {
  %v = vm.reshape_tensor %x : (tensor<3x4xf32>) -> tensor<2x6xf32>
  %t = memory.alloc_tensor %w[0] : tensor<2x6xf32>
  %y = vm.invoke_tvm_op @k ins(%v : tensor<2x6xf32>) outs(%t : tensor<2x6xf32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}
relay.prim_func @k(%a: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %b = relay.exp %a : (tensor<2x6xf32>) -> tensor<2x6xf32>
  relay.yield %b : tensor<2x6xf32>
}

// -----

// A view of dynamic dims must have as many elements.
//
// CHECK-LABEL: @dynamic_reshape
// CHECK:         func.call @xrelay.same(
// CHECK:         memref.reinterpret_cast %x to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<?x4xf32> to memref<?xf32>
func.func @dynamic_reshape(%x: tensor<?x4xf32>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %v = vm.reshape_tensor %x shape %s : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?xf32>
  func.return %v : tensor<?xf32>
}

// -----

// Equal constants are one global; a param has no contents here.
//
// CHECK:       memref.global "private" constant @constant : memref<2xi8> = dense<[1, -1]>
// CHECK-NEXT:  memref.global "private" @w : memref<8xf32> = uninitialized {xrelay.param = "w"
// CHECK-LABEL: @constants
// CHECK:         memref.get_global @constant : memref<2xi8>
// CHECK:         memref.get_global @constant : memref<2xi8>
// CHECK:         memref.get_global @w : memref<8xf32>
func.func @constants() -> (tensor<2xui8>, tensor<2xui8>, tensor<8xf32>) {
  %a = relay.constant dense<[1, 255]> : tensor<2xui8>
  %b = relay.constant dense<[1, 255]> : tensor<2xui8>
  %w = relay.param "w" : tensor<8xf32>
  func.return %a, %b, %w : tensor<2xui8>, tensor<2xui8>, tensor<8xf32>
}

// -----

// Rows of a tensor in a storage, and rows of these, are views of the storage; those of a parameter
// are copied.
//
// CHECK-LABEL: @rows
// CHECK-DAG:     %[[A:.*]] = arith.constant 96 : index
// CHECK-DAG:     %[[B:.*]] = arith.constant 112 : index
// CHECK-DAG:     %[[D:.*]] = arith.constant 144 : index
// CHECK:         memref.view %s[%[[A]]][] : memref<256xi8> to memref<3x4xf32>
// CHECK:         memref.view %s[%[[B]]][] : memref<256xi8> to memref<2x4xf32>
// CHECK:         %[[C:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x4xf32>
// CHECK:         memref.subview %x[7, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 28>>
// CHECK:         memref.copy %{{.*}}, %[[C]]
// CHECK:         memref.view %s[%[[D]]][] : memref<256xi8> to memref<1x2x4xf32>
func.func @rows(%x: tensor<8x4xf32>) -> (tensor<3x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>, tensor<1x2x4xf32>) {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[64] : tensor<8x4xf32>
  %y = vm.invoke_tvm_op @f ins(%x : tensor<8x4xf32>) outs(%t : tensor<8x4xf32>) -> tensor<8x4xf32>
  %a = vm.slice_tensor %y[2] : (tensor<8x4xf32>) -> tensor<3x4xf32>
  %b = vm.slice_tensor %a[1] : (tensor<3x4xf32>) -> tensor<2x4xf32>
  %c = vm.slice_tensor %x[7] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %r = vm.reshape_tensor %y : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
  %d = vm.slice_tensor %r[5] axis 1 : (tensor<1x8x4xf32>) -> tensor<1x2x4xf32>
  func.return %a, %b, %c, %d : tensor<3x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>, tensor<1x2x4xf32>
}
relay.prim_func @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = relay.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  relay.yield %y : tensor<8x4xf32>
}

// -----

// A join is a view of its storage from its first part with elements on; one of open dims is checked
// to end in it.
//
// CHECK-LABEL: func.func @joins
// CHECK:         %[[E:.*]] = arith.addi %c64, %c0{{.*}} : index
// CHECK-NEXT:    %j = memref.view %s[%[[E]]][] : memref<192xi8> to memref<8x4xf32>
// CHECK:         memref.copy %j, %y
// CHECK:         %[[N:.*]] = func.call @xrelay.dim(%n)
// CHECK:         %[[B:.*]] = func.call @xrelay.place
// CHECK-NEXT:    %d = memref.view %s[%[[B]]][%[[N]]] : memref<192xi8> to memref<?x4xf32>
// CHECK:         memref.copy %d, %z
func.func @joins(%x: tensor<4x4xf32>, %none: tensor<0x4xf32>, %n: i64, %w: !memory.storage) -> tensor<?x4xf32> {
  %s = memory.alloc_storage 192 align 64 : !memory.storage
  %part = memory.slice_storage %s[64] size 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %part[0] : tensor<4x4xf32>
  %a = memory.copy ins(%x : tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = memory.alloc_tensor %s[128] : tensor<4x4xf32>
  %b = memory.copy ins(%x : tensor<4x4xf32>) outs(%u : tensor<4x4xf32>) -> tensor<4x4xf32>
  %j = vm.join_tensors %none, %a, %b : (tensor<0x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = memory.alloc_tensor %w[0] : tensor<8x4xf32>
  %c = memory.copy ins(%j : tensor<8x4xf32>) outs(%y : tensor<8x4xf32>) -> tensor<8x4xf32>
  %four = arith.constant 4 : i64
  %shape = tensor.from_elements %n, %four : tensor<2xi64>
  %d = vm.join_tensors %a shape %shape : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %z = memory.alloc_tensor %w[0] shape %shape : tensor<2xi64> -> tensor<?x4xf32>
  %e = memory.copy ins(%d : tensor<?x4xf32>) outs(%z : tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %e : tensor<?x4xf32>
}
