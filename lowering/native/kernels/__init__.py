"""Rewrites of a kernel before its schedule is chosen."""
