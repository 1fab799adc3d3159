"""The way from MLIR to machine code."""
