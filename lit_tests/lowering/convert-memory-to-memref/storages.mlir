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
