"""Offsets for buffers of known sizes: bounds, greedy strategies, and exact searches."""
