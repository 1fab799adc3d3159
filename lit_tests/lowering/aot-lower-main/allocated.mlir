// RUN: xrelay-opt -p 'aot-lower-main{prefix=net}' %s | filecheck %s
// RUN: xrelay-opt -p 'aot-lower-main{prefix=net}' %s | mlir-opt -o /dev/null

// An output whose size is known after the run is returned; others are parameters.
//
// CHECK:       results = [{name = "same",{{.*}}{name = "y", spec = {dtype = "float32", shape = [-1 : i64]}}]
// CHECK-SAME:    typed = [true, true], allocated = [false, true]
// CHECK-LABEL: func.func public @net_main_flat
// CHECK-SAME:    (%x: memref<4xf32> {xrelay.name = "x"}, %same: memref<4xf32> {xrelay.name = "same", xrelay.output = 0 : i64},
// CHECK-SAME:    -> memref<?xf32> attributes
// CHECK:         %[[Y:.*]] = memref.alloc(%n)
// CHECK:         memref.copy %x, %same
// CHECK-NEXT:    func.return %[[Y]] : memref<?xf32>
func.func private @count(memref<4xf32>) -> index
func.func private @k(memref<4xf32>, memref<?xf32>) -> ()
func.func @main(%x: memref<4xf32>) -> (memref<4xf32>, memref<?xf32>) attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "float32", shape = [4 : i64]}}], results = [{name = "same", spec = {dtype = "float32", shape = [4 : i64]}}, {name = "y", spec = {dtype = "float32", shape = [-1 : i64]}}]}, allocated = [1 : i64]}} {
  %n = func.call @count(%x) : (memref<4xf32>) -> index
  %y = memref.alloc(%n) : memref<?xf32>
  func.call @k(%x, %y) : (memref<4xf32>, memref<?xf32>) -> ()
  func.return %x, %y : memref<4xf32>, memref<?xf32>
}
