"""
The values of expressions of sizes, for given values of their free symbols.

    Values({n: 5}).of(64*((4*n + 63) // 64))           64
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .size_expressions import Expr, Symbol, inner_first
from .size_table import compute

MAX_VALUE = 2**62
"""Sizes that are this large are not computed."""

NO_VALUE = 1
"""The value of an operation that has none for its operands, as of a program that stops."""


def free_symbols(sizes: Iterable[Expr]) -> list[Symbol]:
    """Return the symbols from which `sizes` follow, in order."""
    return [symbol for symbol in inner_first(sizes) if not symbol.is_computed]


@dataclass
class Values:
    """Evaluates expressions at a point, which has the value of each free symbol."""

    point: Mapping[Symbol, int]
    _known: dict[Symbol, int] = field(default_factory=dict[Symbol, int])

    def of(self, size: Expr) -> int:
        """Return the value of `size`."""
        for symbol in inner_first([size], self._known):
            self._known[symbol] = self._value(symbol) if symbol.is_computed else self.point[symbol]
        return size.value(self._known)

    def _value(self, symbol: Symbol) -> int:
        args = [arg.value(self._known) if isinstance(arg, Expr) else arg for arg in symbol.args]
        try:
            value = compute(symbol.kind, *args)
        except (ArithmeticError, ValueError, TypeError):
            return NO_VALUE
        return value if abs(value) < MAX_VALUE else MAX_VALUE
