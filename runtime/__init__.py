"""What runs a compiled program. Nothing here imports xDSL."""
