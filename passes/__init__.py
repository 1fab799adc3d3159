"""Passes: rewrites within a level, or from one level to the next."""
