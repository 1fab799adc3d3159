"""Relay text as syntax: tokens, grammar, and the tree that it gives."""
