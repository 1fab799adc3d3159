// RUN: xrelay-opt -p report-memory --verify-diagnostics %s

// A program that allocates nothing yet is an error that names a pipeline.
//
// expected-error@below {{expected allocations of memory, but the module has none: run a pipeline up to level 'manifest' or 'memory-planned' first, such as -p vm}}
builtin.module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    func.return %x : tensor<4xf32>
  }
}
