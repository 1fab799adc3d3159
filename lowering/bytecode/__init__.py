"""The parts of `lower-to-bytecode` and `allocate-registers`, and the assembler."""
