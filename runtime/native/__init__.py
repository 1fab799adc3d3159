"""Programs that are compiled to machine code, in shared libraries."""
