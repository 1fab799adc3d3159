"""How an op that names symbols is checked."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

Lookup = Callable[[str], Operation | None]
"""
Finds a symbol of the module by its name, in constant time.

An op that names symbols has a method `verify_symbol_uses(lookup)`, which `passes.support.verifier`
calls; xDSL's own trait for this looks each symbol up by a linear scan.
"""
