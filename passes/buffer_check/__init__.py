"""The checker of programs on memrefs, a part of `verify-memory-plan`; planning uses none of it."""
