"""How `passes.verifier` checks an op: the symbols it names, and errors at the ops inside it."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

Lookup = Callable[[str], Operation | None]
"""
Finds a symbol of the module by its name, in constant time.

An op that names symbols has a method `verify_symbol_uses(lookup)`, which `passes.verifier`
calls; xDSL's own trait for this looks each symbol up by a linear scan.
"""


class OpVerifyException(VerifyException):
    """What is wrong with `op`, an op inside the one that is being verified."""

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message)
        self.op = op
