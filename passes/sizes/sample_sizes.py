"""
Sample values of sizes that are not known yet.

    sizes 4*n, 4*n*m; n in [1, 2048]        n = 1, m = 1;  n = 13, m = 10;  …;  n = 2048, m = 1

A symbol is small, in between, and large: all symbols together, then each of the first few large
while the others are in between, and small while they are large. All stay within their bounds.
What follows from other symbols, such as a quotient, is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import TypeAlias

from ...operators.records import record
from ...operators.sizes.size_expressions import Expr, Symbol, Values, free_symbols
from ...operators.sizes.size_table import Range

LEVELS = (1, 16, 128, 1024)
"""The values of a symbol without bounds, from small to large."""

MAX_SYMBOLS = 4
"""The number of symbols that vary on their own."""

Point: TypeAlias = Mapping[Symbol, int]
"""The value of each symbol that no other one determines."""


@record
class Sample:
    """The values of sizes at a point."""

    point: Point
    sizes: tuple[int, ...]

    def __str__(self) -> str:
        return ", ".join(f"{symbol} = {value}" for symbol, value in self.point.items())


def levels_of(bounds: Range) -> tuple[int, ...]:
    """Return values within `bounds` from small to large, with equal ratios if both are known."""
    low, high = max(bounds[0], 0), bounds[1]
    if high == inf:
        return tuple(max(int(low), level) for level in LEVELS)
    start, steps = max(low, 1), len(LEVELS) - 1
    between = [round(start * (high / start) ** (k / steps)) for k in range(1, steps)]
    return tuple(int(min(max(level, low), high)) for level in (start, *between, high))


def points_of(symbols: Sequence[Symbol]) -> Iterator[Point]:
    """Yield the points at which sizes are sampled."""
    levels = {symbol: levels_of(symbol.range) for symbol in symbols}
    for level in range(len(LEVELS)):
        yield {symbol: values[level] for symbol, values in levels.items()}
    if len(symbols) < 2:
        return
    middle = {symbol: values[1] for symbol, values in levels.items()}
    large = {symbol: values[-1] for symbol, values in levels.items()}
    for symbol in symbols[:MAX_SYMBOLS]:
        yield {**middle, symbol: levels[symbol][-1]}
        yield {**large, symbol: levels[symbol][0]}


def samples_of(sizes: Sequence[Expr], limit: float = inf) -> list[Sample]:
    """Return `sizes` at sample points, each combination once, those whose sum is below `limit`."""
    distinct = list(dict.fromkeys(sizes))
    points: dict[tuple[int, ...], Point] = {}
    for point in points_of(free_symbols(distinct)):
        values = (max(0, value) for value in Values(point).all_of(distinct))
        known = dict(zip(distinct, values, strict=True))
        sample = tuple(known[size] for size in sizes)
        if sum(sample) < limit:
            points.setdefault(sample, point)
    return [Sample(point, sample) for sample, point in points.items()]
