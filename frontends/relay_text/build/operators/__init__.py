"""Calls of operators that are not one op of the same name."""
