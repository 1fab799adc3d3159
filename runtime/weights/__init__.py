"""Weights: their files, values derived from others, and those bound late."""
