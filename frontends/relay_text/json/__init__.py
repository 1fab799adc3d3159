"""Modules and metadata as TVM saves them in JSON."""
