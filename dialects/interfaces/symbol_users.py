"""Verification of ops that refer to symbols."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

Lookup = Callable[[str], Operation | None]
"""
Looks up a symbol of the module by name, in constant time.

An op that refers to symbols has a method `verify_symbol_uses(lookup)`, which
`passes.support.verifier` calls; xDSL's own trait looks up each symbol by a linear scan.
"""
