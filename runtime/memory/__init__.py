"""The memory of a running program: arenas, free bytes, scratch, and limits."""
