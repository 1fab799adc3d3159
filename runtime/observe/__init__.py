"""Measure where the time of calls goes."""
