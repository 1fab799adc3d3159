"""The linalg of each operator, one file a family."""
