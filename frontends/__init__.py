"""Frontends: readers that convert other formats to `relay` IR."""
