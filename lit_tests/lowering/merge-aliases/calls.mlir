// RUN: xrelay-opt --split-input-file -p merge-aliases %s | filecheck %s

// An operand at the bytes of the result is the result's argument, in the operand's shape.
//
// CHECK-LABEL: func.func public @main(
// CHECK:         call @relu(%[[Y:[a-z0-9]+]]) : (memref<8xf32>) -> ()
//
// CHECK-LABEL: func.func private @relu(
// CHECK-SAME:    %[[OUT:.*]]: memref<8xf32>) attributes {xrelay.kernel}
// CHECK-NEXT:    %[[X:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [2, 4], strides: [4, 1]
// CHECK-NEXT:    bufferization.to_tensor %[[X]]
// CHECK:         bufferization.materialize_in_destination %{{.*}} %[[OUT]]
builtin.module {
  func.func public @main(%arena: memref<?xi8>) {
    %at = arith.constant 64 : index
    %x = memref.view %arena[%at][] : memref<?xi8> to memref<2x4xf32>
    %same = arith.constant 64 : index
    %y = memref.view %arena[%same][] : memref<?xi8> to memref<8xf32>
    func.call @relu(%x, %y) : (memref<2x4xf32>, memref<8xf32>) -> ()
    func.return
  }
  func.func private @relu(%mx: memref<2x4xf32>, %out: memref<8xf32>) attributes {xrelay.kernel} {
    %x = bufferization.to_tensor %mx restrict : memref<2x4xf32> to tensor<2x4xf32>
    %r = tensor.collapse_shape %x [[0 : i64, 1 : i64]] : tensor<2x4xf32> into tensor<8xf32>
    bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
    func.return
  }
}

// -----

// Offsets and sizes that the same functions compute are equal; another operand, and another place, are not.
// A kernel that is called in both ways has two versions.
//
// CHECK-LABEL: func.func public @main(
// CHECK:         call @copy.in_place(%{{[a-z0-9_]+}}) : (memref<?xf32>) -> ()
// CHECK:         call @copy(%{{.*}}, %{{.*}}) : (memref<?xf32>, memref<?xf32>) -> ()
// CHECK:         call @copy(%{{.*}}, %{{.*}}) : (memref<?xf32>, memref<?xf32>) -> ()
//
// CHECK-LABEL: func.func private @copy(
// CHECK-SAME:    %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>)
// CHECK-LABEL: func.func private @copy.in_place(
// CHECK-SAME:    %[[OUT:.*]]: memref<?xf32>) attributes {xrelay.kernel}
// CHECK-NEXT:    bufferization.to_tensor %[[OUT]]
builtin.module {
  func.func private @xrelay.muli(i64, i64) -> i64
  func.func private @xrelay.dim(i64) -> index
  func.func public @main(%arena: memref<?xi8>, %n: i64, %m: i64) {
    %four = arith.constant 4 : i64
    %bytes = func.call @xrelay.muli(%n, %four) : (i64, i64) -> i64
    %at = func.call @xrelay.dim(%bytes) : (i64) -> index
    %size = func.call @xrelay.dim(%n) : (i64) -> index
    %x = memref.view %arena[%at][%size] : memref<?xi8> to memref<?xf32>
    %too = arith.constant 4 : i64
    %bytes_too = func.call @xrelay.muli(%n, %too) : (i64, i64) -> i64
    %at_too = func.call @xrelay.dim(%bytes_too) : (i64) -> index
    %size_too = func.call @xrelay.dim(%n) : (i64) -> index
    %y = memref.view %arena[%at_too][%size_too] : memref<?xi8> to memref<?xf32>
    func.call @copy(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
    %other = func.call @xrelay.dim(%m) : (i64) -> index
    %longer = memref.view %arena[%at][%other] : memref<?xi8> to memref<?xf32>
    func.call @copy(%x, %longer) : (memref<?xf32>, memref<?xf32>) -> ()
    %later = memref.view %arena[%size][%size] : memref<?xi8> to memref<?xf32>
    func.call @copy(%x, %later) : (memref<?xf32>, memref<?xf32>) -> ()
    func.return
  }
  func.func private @copy(%mx: memref<?xf32>, %out: memref<?xf32>) attributes {xrelay.kernel} {
    %x = bufferization.to_tensor %mx restrict : memref<?xf32> to tensor<?xf32>
    bufferization.materialize_in_destination %x in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
    func.return
  }
}
