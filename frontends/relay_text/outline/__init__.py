"""Kernels and generic functions of the text as functions of the module."""
