// RUN: xrelay-opt -p plan-memref --remarks %s 2>&1 | filecheck %s

// Modules have symbols of their own: @f of the outer one may keep its argument.
//
// CHECK-DAG:   remark: memref.alloc is left alone: captured by @f
// CHECK-DAG:   remark: memref.alloc is left alone: it is not in a func.func of a module
// CHECK-LABEL: @g
// CHECK-NEXT:    memref.alloc() : memref<4xf32>
// CHECK:       builtin.module @inner
// CHECK:       @g
// CHECK-NEXT:    memref.alloc() {{.*}} : memref<16xi8>
func.func @g() {
  %a = memref.alloc() : memref<4xf32>
  func.call @f(%a) : (memref<4xf32>) -> ()
  func.return
}
func.func private @f(%x: memref<4xf32>)
module @inner {
  func.func private @f(%x: memref<4xf32>) {
    func.return
  }
  func.func @g() {
    %a = memref.alloc() : memref<4xf32>
    func.call @f(%a) : (memref<4xf32>) -> ()
    func.return
  }
}
%outside = memref.alloc() : memref<4xf32>
