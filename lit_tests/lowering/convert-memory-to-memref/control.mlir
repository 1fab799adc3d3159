// RUN: xrelay-opt --split-input-file -p 'convert-memory-to-memref,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// A branch tests a number in memory.
//
// CHECK-LABEL: @branch
// CHECK:         %[[BYTE:.*]] = memref.load %c[] : memref<i8>
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-NEXT:    %[[C:.*]] = arith.cmpi ne, %[[BYTE]], %[[ZERO]] : i8
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[C]] -> (memref<4xf32>) {
// CHECK-NEXT:      scf.yield %x : memref<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %y : memref<4xf32>
// CHECK-NEXT:    }
// CHECK:         func.call @k(%[[R]]
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %w: !memory.storage) {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  %t = memory.alloc_tensor %w[0] : tensor<4xf32>
  %z = vm.invoke_tvm_op @k ins(%r : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// The condition may be an integer of any width: it holds unless it is 0.
//
// CHECK-LABEL: @integer_condition
// CHECK:         %[[C:.*]] = memref.load %c[] : memref<i8>
// CHECK-NEXT:    %[[B:.*]] = arith.cmpi ne, %[[C]], %c0 : i8
// CHECK-NEXT:    scf.if %[[B]]
func.func @integer_condition(%c: tensor<ui8>, %x: tensor<4xf32>, %w: !memory.storage) {
  relay.if %c : tensor<ui8> {
    %t = memory.alloc_tensor %w[0] : tensor<4xf32>
    %z = vm.invoke_tvm_op @k ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    relay.yield
  } else {
    relay.yield
  }
  func.return
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// A branch that knows more dims than the result forgets them.
//
// CHECK-LABEL: @different_dims
// CHECK:           %[[X:.*]] = memref.cast %x : memref<4xf32> to memref<?xf32>
// CHECK-NEXT:      scf.yield %[[X]] : memref<?xf32>
func.func @different_dims(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<?xf32>, %w: !memory.storage) {
  %r = relay.if %c : tensor<i1> -> (tensor<?xf32>) {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %y : tensor<?xf32>
  }
  %s = vm.shape_of %r : (tensor<?xf32>) -> tensor<1xi64>
  %t = memory.alloc_tensor %w[0] shape %s : tensor<1xi64> -> tensor<?xf32>
  %z = vm.invoke_tvm_op @k ins(%r : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  func.return
}
relay.prim_func @k(%a: tensor<?xf32>) -> tensor<?xf32> {
  %b = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %b : tensor<?xf32>
}
