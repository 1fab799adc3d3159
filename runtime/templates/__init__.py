"""Recorded paths as functions of the dims of their arguments: see `follow`."""
