// RUN: xrelay-opt %s -p plan-memref --memory-report -o %t 2>&1 | filecheck %s
// RUN: xrelay-opt %s -p plan-memref -t memory-plan-svg -o - | filecheck %s --check-prefix=SVG

// Memory is reported before `expand-packs`; buffers in two arms share bytes, though both are alive
// after the branch, on different paths.
//
// CHECK-LABEL: memory of @yielded on the default space
// CHECK:       sum of tensors     192 B
// CHECK:       lower bound        128 B  128 B  alive at memref.copy
// CHECK:       planned            128 B  128 B  1.000 x the lower bound
// CHECK:       allocations            1         instead of 3
// SVG: <svg
// SVG: a_1
func.func @yielded(%c: i1, %x: memref<16xf32>, %y: memref<16xf32>) {
  %b = memref.alloc() : memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  %r = scf.if %c -> (memref<16xf32>) {
    %a = memref.alloc() : memref<16xf32>
    memref.copy %b, %a : memref<16xf32> to memref<16xf32>
    scf.yield %a : memref<16xf32>
  } else {
    %a = memref.alloc() : memref<16xf32>
    memref.copy %x, %a : memref<16xf32> to memref<16xf32>
    scf.yield %a : memref<16xf32>
  }
  memref.copy %b, %y : memref<16xf32> to memref<16xf32>
  memref.copy %r, %y : memref<16xf32> to memref<16xf32>
  func.return
}
