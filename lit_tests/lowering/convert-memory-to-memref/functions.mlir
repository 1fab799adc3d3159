// RUN: xrelay-opt --split-input-file -p 'convert-memory-to-memref,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// A result in a storage of the caller is not returned, and the caller views that storage.
//
// CHECK-LABEL: @lent
// CHECK-SAME:    (%x: memref<4xf32>, %r: memref<?xi8> {memory.result = 0 : i64, memory.alignment = 64 : i64}) {
// CHECK:         %[[T:.*]] = memref.view %r[%{{.*}}][] : memref<?xi8> to memref<4xf32>
// CHECK-NEXT:    func.call @k(%x, %[[T]])
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: @caller
// CHECK:         %[[S:.*]] = memref.alloc()
// CHECK:         func.call @lent(%x, %{{.*}}) : (memref<4xf32>, memref<?xi8>) -> ()
// CHECK-NEXT:    %[[Y:.*]] = memref.view
func.func private @lent(%x: tensor<4xf32>, %r: !memory.storage {memory.result = 0 : i64, memory.alignment = 64 : i64}) -> tensor<4xf32> {
  %t = memory.alloc_tensor %r[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @k ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %y = func.call @lent(%x, %s) : (tensor<4xf32>, !memory.storage) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// Of a lent result of dynamic shape, the dims are returned.
//
// CHECK-LABEL: @lent_dynamic
// CHECK-SAME:    -> index
// CHECK:         func.call @k
// CHECK-NEXT:    %[[D:.*]] = memref.dim %{{.*}}, %{{.*}} : memref<?x4xf32>
// CHECK-NEXT:    func.return %[[D]] : index
// CHECK-LABEL: @caller
// CHECK:         %[[N:.*]] = func.call @lent_dynamic(%x, %r) : (memref<?x4xf32>, memref<?xi8>) -> index
// CHECK-NEXT:    memref.view %r[%{{.*}}][%[[N]]] : memref<?xi8> to memref<?x4xf32>
func.func private @lent_dynamic(%x: tensor<?x4xf32>, %r: !memory.storage {memory.result = 0 : i64}) -> tensor<?x4xf32> {
  %shape = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %t = memory.alloc_tensor %r[0] shape %shape : tensor<2xi64> -> tensor<?x4xf32>
  %y = vm.invoke_tvm_op @k ins(%x : tensor<?x4xf32>) outs(%t : tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}
func.func @caller(%x: tensor<?x4xf32>, %r: !memory.storage {memory.result = 0 : i64}) -> tensor<?x4xf32> {
  %y = func.call @lent_dynamic(%x, %r) : (tensor<?x4xf32>, !memory.storage) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}
relay.prim_func @k(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %b = relay.exp %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
  relay.yield %b : tensor<?x4xf32>
}

// -----

// A kernel of linalg writes its result into the buffer of the caller.
//
// CHECK-LABEL: func.func private @add
// CHECK-SAME:    (%a: memref<4xf32>, %[[OUT:[0-9]+]]: memref<4xf32>) attributes {xrelay.kernel}
// CHECK-NEXT:    %[[A:.*]] = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
// CHECK-NEXT:    %[[B:.*]] = arith.addf %[[A]], %[[A]] : tensor<4xf32>
// CHECK-NEXT:    bufferization.materialize_in_destination %[[B]] in restrict writable %[[OUT]]
// CHECK-NEXT:    func.return
relay.prim_func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = arith.addf %a, %a : tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// A kernel that is not lowered is called through the runtime.
//
// CHECK: func.func private @abs(memref<4xi8>, memref<4xi8>) {{.*}}attributes {xrelay.kernel, llvm.emit_c_interface}
relay.prim_func @abs(%a: tensor<4xui8>) -> tensor<4xui8> {
  %b = relay.abs %a : (tensor<4xui8>) -> tensor<4xui8>
  relay.yield %b : tensor<4xui8>
}
