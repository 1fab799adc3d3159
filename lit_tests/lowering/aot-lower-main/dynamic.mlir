// RUN: xrelay-opt -p 'aot-lower-main{prefix=net}' %s | filecheck %s

// The function of sizes reads dims and writes the bytes of the workspace, then the dims of outputs.
//
// CHECK-LABEL: func.func public @net_rows_flat
// CHECK-SAME:    %y: memref<?x4xf32> {xrelay.name = "y"
// CHECK-LABEL: func.func @net_rows_sizes(%dims: memref<?xi64>, %sizes: memref<?xi64>) attributes {llvm.emit_c_interface}
// CHECK-NEXT:    %[[I:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %n = memref.load %dims[%[[I]]]
// CHECK:         %bytes = arith.muli %n
// CHECK:         memref.store %bytes, %sizes
// CHECK:         memref.store %n, %sizes
// CHECK-NEXT:    func.return
func.func @rows(%x: memref<?x4xf32>, %r: memref<?xi8> {memory.result = 0 : i64, memory.alignment = 64 : i64}, %w: memref<?xi8> {memory.workspace = array<i64: 0>, memory.alignment = 64 : i64}) -> index attributes {xrelay.entry = {function = {name = "rows", params = [{name = "x", spec = {dtype = "float32", shape = [-1 : i64, 4 : i64]}, dims = ["n", ""]}], results = [{name = "y", spec = {dtype = "float32", shape = [-1 : i64, 4 : i64]}}]}}} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %t = memref.view %w[%c0][%n] : memref<?xi8> to memref<?x4xf32>
  "memref.copy"(%x, %t) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  %y = memref.view %r[%c0][%n] : memref<?xi8> to memref<?x4xf32>
  "memref.copy"(%t, %y) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  func.return %n : index
}
func.func @rows.sizes(%n: i64) -> (i64, i64, i64) attributes {memory.sizes_of = @rows} {
  %twice = arith.addi %n, %n : i64
  %bytes = arith.muli %n, %n : i64
  func.return %twice, %bytes, %n : i64, i64, i64
}
