// RUN: xrelay-opt -p limit-recursion %s | filecheck %s
// RUN: xrelay-opt -p limit-recursion %s | mlir-opt -o /dev/null

// Functions that recur, also by way of others, check the stack; others do not.
//
// CHECK-LABEL: func.func private @even
// CHECK-NEXT:    func.call @xrelay_enter() : () -> ()
// CHECK-LABEL: func.func private @odd
// CHECK-NEXT:    func.call @xrelay_enter() : () -> ()
// CHECK-LABEL: func.func @start
// CHECK-NEXT:    %y = func.call @even
// CHECK:       func.func private @xrelay_enter()
func.func private @even(%x: memref<4xf32>) -> memref<4xf32> {
  %y = func.call @odd(%x) : (memref<4xf32>) -> memref<4xf32>
  func.return %y : memref<4xf32>
}
func.func private @odd(%x: memref<4xf32>) -> memref<4xf32> {
  %y = func.call @even(%x) : (memref<4xf32>) -> memref<4xf32>
  func.return %y : memref<4xf32>
}
func.func @start(%x: memref<4xf32>) -> memref<4xf32> {
  %y = func.call @even(%x) : (memref<4xf32>) -> memref<4xf32>
  func.return %y : memref<4xf32>
}
