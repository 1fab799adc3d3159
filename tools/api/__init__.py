"""The Python API, and compilation, which the commands share with it."""
