// RUN: xrelay-opt -p pack-buffers,layout-slices -t smt2 --verify-diagnostics %s

// A plan of memrefs is not written as claims: a file without them would look like a proof.

func.func @f(%x: memref<16xf32>) {
  // expected-error @below {{the claims of plans of memrefs are not written; they are checked}}
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  func.return
}
