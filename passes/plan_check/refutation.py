"""
Values of sizes at a few points, where a wrong inequality is likely to fail.

    4*n - 64 >= 0 fails at n = 1

Any symbols have any values there: this refutes what holds in general, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import add

from ...operators.sizes.size_expressions import Expr, Symbol
from ...operators.sizes.size_table import compute
from ..sizes.reader import Packed
from .operations import args_of, is_operation, packed_of

SAMPLES = 5
"""The number of sample points."""


class Samples:
    """The values of sizes at a few points; slices of a pack are one after the other."""

    def __init__(self) -> None:
        self._values: dict[Symbol, tuple[int, ...]] = {}
        self._bounds: dict[Expr, list[int]] = {}
        self._packed: dict[Packed, list[tuple[int, ...]]] = {}

    def bounds(self, start: Expr, stop: Expr) -> tuple[int, int]:
        """Return the values of both at one point."""
        return self.of(start)[2], self.of(stop)[2]

    def of_slot(self, size: Expr) -> list[int]:
        """Return `of(size)`, remembered, for a bound of a slot, which many proofs pass."""
        found = self._bounds.get(size)
        if found is None:
            found = self._bounds[size] = self.of(size)
        return found

    def of(self, size: Expr) -> list[int]:
        """Return the value of `size` at each point."""
        total = [0] * SAMPLES
        for monomial, coefficient in size.terms:
            if not monomial:
                total = [value + coefficient for value in total]
                continue
            columns = [self._values.get(symbol) or self._value(symbol) for symbol in monomial]
            total = [
                value + coefficient * prod(column[i] for column in columns)
                for i, value in enumerate(total)
            ]
        return total

    def _value(self, symbol: Symbol) -> tuple[int, ...]:
        """Compute the values of `symbol`, after those in it that are not known."""
        pending = [symbol]
        while pending:
            at = pending[-1]
            inner = [s for arg in inner_of(at) for s in arg.symbols() if s not in self._values]
            if inner:
                pending += inner
                continue
            pending.pop()
            if at not in self._values:
                self._values[at] = self._computed(at)
        return self._values[symbol]

    def _computed(self, symbol: Symbol) -> tuple[int, ...]:
        result = packed_of(symbol)
        if result is not None:
            return self._laid_out(result[0])[result[1]]
        if not is_operation(symbol):
            return point_of(symbol)
        return tuple(
            value_at(symbol.kind, row)
            for row in zip(*(self.of(arg) for arg in args_of(symbol)), strict=True)
        )

    def _laid_out(self, packed: Packed) -> list[tuple[int, ...]]:
        found = self._packed.get(packed)
        if found is not None:
            return found
        unit, end = packed.alignment, (0,) * SAMPLES
        offsets: list[tuple[int, ...]] = []
        for size in packed.sizes:
            offsets.append(at := tuple(-(-value // unit) * unit for value in end))
            end = tuple(map(add, at, (max(value, 0) for value in self.of(size))))
        found = self._packed[packed] = [end, *offsets]
        return found


def inner_of(symbol: Symbol) -> Sequence[Expr]:
    """Return the sizes from which the value of `symbol` follows."""
    result = packed_of(symbol)
    if result is not None:
        return result[0].sizes
    return args_of(symbol) if is_operation(symbol) else []


def point_of(symbol: Symbol) -> tuple[int, ...]:
    """Return the values of a symbol that can have any."""
    n = symbol.number
    return (1, 5 + 7 * n % 11, 1000 + 37 * n % 101, 333 if n % 2 else 1, 1 if n % 2 else 333)


def value_at(kind: str, args: tuple[int, ...]) -> int:
    """Compute an operation; where it has no value, any will do."""
    try:
        return compute(kind, *args)
    except ZeroDivisionError:
        return 0
