"""Storages that callers lend to functions, and the sizes of these."""
