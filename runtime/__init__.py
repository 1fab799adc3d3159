"""The virtual machine that runs compiled programs. Nothing here imports xDSL."""
