"""
The bytes of slices that lie on each other, for any sizes: a layout, as `TOTAL` has it.

    Stacked(64, (((), (0,), (0,)),))       slices 1 and 2 lie on slice 0
    Stacked(64, (order, other))            of two orders, the one with the smaller total

A slice begins at the highest end of those that it lies on, rounded up to the alignment, or at 0. A
negative size counts as 0. `apply` does the arithmetic, so one text serves numbers, IR and formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

from xrelay.operators.sizes.size_table import ALIGN, CHOOSE, Apply

Order: TypeAlias = tuple[tuple[int, ...], ...]
"""For each slice, the slices that it lies on; no slice lies on itself, by any way."""


@dataclass(frozen=True)
class Stacked:
    """A layout by one order of slices or by more, of which the one with the least total counts."""

    alignment: int
    orders: tuple[Order, ...]

    def total(self, sizes: Sequence[Any], apply: Apply) -> Any:
        """Return the number of bytes that slices of these sizes take."""
        return self.layout(sizes, apply)[0]

    def layout(self, sizes: Sequence[Any], apply: Apply) -> tuple[Any, list[Any]]:
        """Return the number of bytes, and the offset of each slice."""
        natural = [apply("max", size, 0) for size in sizes]
        total, offsets = self._stacked(self.orders[0], natural, apply)
        for order in self.orders[1:]:
            other, others = self._stacked(order, natural, apply)
            is_less = apply("lt", other, total)
            offsets = [apply(CHOOSE, is_less, *pair) for pair in zip(others, offsets, strict=True)]
            total = apply("min", other, total)
        return total, offsets

    def _stacked(self, order: Order, sizes: Sequence[Any], apply: Apply) -> tuple[Any, list[Any]]:
        offsets, ends = dict[int, Any](), dict[int, Any]()
        for i in bottom_up(order):
            top = _highest([ends[j] for j in order[i]], apply)
            offsets[i] = apply(ALIGN, top, self.alignment) if self.alignment > 1 else top
            ends[i] = apply("add", offsets[i], sizes[i])
        return _highest(list(ends.values()), apply), [offsets[i] for i in range(len(order))]


def _highest(ends: Sequence[Any], apply: Apply) -> Any:
    return reduce(lambda a, b: apply("max", a, b), ends) if ends else 0


def bottom_up(order: Order) -> list[int]:
    """Return the numbers of slices, each after those that it lies on."""
    done: dict[int, None] = {}
    pending = [(i, False) for i in reversed(range(len(order)))]
    while pending:
        i, is_ready = pending.pop()
        if is_ready:
            done[i] = None
        elif i not in done:
            pending += [(i, True), *((j, False) for j in reversed(order[i]) if j not in done)]
    return list(done)
