"""Functions of a module: calls, symbols, captures, parameters."""
