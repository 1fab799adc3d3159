"""Programs as Python callables."""
