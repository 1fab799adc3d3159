"""Lowerings: steps to a lower level, and the pipelines made of passes."""
