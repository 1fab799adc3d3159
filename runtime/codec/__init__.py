"""Values of annotated types in files: as words of an executable, and as plain data (JSON, IR)."""
