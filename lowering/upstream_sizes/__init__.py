"""Arithmetic on sizes in upstream dialects, which fails instead of wrapping."""
