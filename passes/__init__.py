"""The passes: rewrites that stay on a level, or go from one to the next."""
