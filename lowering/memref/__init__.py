"""From explicit memory to `memref`: the patterns of `convert-memory-to-memref`, by subject."""
