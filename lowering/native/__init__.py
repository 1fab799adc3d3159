"""From modules at level `memref` to machine code, with the tools of MLIR and LLVM."""
