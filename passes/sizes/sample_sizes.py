"""
Sample values of sizes that are not known yet.

    sizes 4*n, 4*n*m; n in [1, 2048]        n = 1, m = 1;  n = 13, m = 10;  …;  n = 2048, m = 1

A symbol is small, in between, and large: all symbols together, then each of the first few large
while the others are in between, and small while they are large. Named dims stay within their
`relay.dim_bounds`. What follows from other symbols, such as a quotient, is computed from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.ir import BlockArgument

from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names
from ...operators.measures import MEASURES
from ...operators.named_dims import Bounds
from ...operators.orders import PoolTotal, on_integers
from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import TOTAL, Expr, Symbol

LEVELS = (1, 16, 128, 1024)
"""The values of a symbol without bounds, from small to large."""

MAX_SYMBOLS = 4
"""The number of symbols that vary on their own."""

MAX_SIZE = 2**62
"""Sizes that are this large are not computed."""

Point: TypeAlias = Mapping[Symbol, int]
"""The value of each symbol that no other one determines."""


@dataclass(frozen=True)
class Sample:
    """The values of sizes at a point."""

    point: Point
    sizes: tuple[int, ...]

    def __str__(self) -> str:
        return ", ".join(f"{symbol} = {value}" for symbol, value in self.point.items())


def bounds_of(symbol: Symbol) -> Bounds:
    """Return the bounds of a symbol; a dim without any is at least 1."""
    match symbol.args:
        case (BlockArgument() as argument, int(axis)) if symbol.kind == "dim":
            function = argument.block.parent_op()
            if isinstance(function, func.FuncOp):
                names = dim_names(function)[argument.index]
                name = names[axis] if axis < len(names) else None
                return dim_bounds(function).get(name or "", Bounds(1, None))
        case _:
            pass
    return Bounds(1, None)


def levels_of(bounds: Bounds) -> tuple[int, ...]:
    """Return values within `bounds` from small to large, with equal ratios if both are known."""
    low, high = bounds
    if high is None:
        return tuple(max(low, level) for level in LEVELS)
    start, steps = max(low, 1), len(LEVELS) - 1
    between = [round(start * (high / start) ** (k / steps)) for k in range(1, steps)]
    return tuple(min(max(level, low), high) for level in (start, *between, high))


def arguments_of(symbol: Symbol) -> list[Expr]:
    """Return the sizes that `symbol` follows from; none if nothing is known of it."""
    if symbol.kind == TOTAL:
        return [arg for arg in symbol.args if isinstance(arg, Expr)]
    if symbol.kind not in _COMPUTED:
        return []
    found = [arg for arg in symbol.args if isinstance(arg, Expr)]
    return found if len(found) == len(symbol.args) else []


def free_symbols(sizes: Iterable[Expr]) -> list[Symbol]:
    """Return the symbols from which `sizes` follow, in order."""
    found: dict[Symbol, None] = {}
    seen: set[Symbol] = set()
    pending = [symbol for size in sizes for symbol in size.symbols()][::-1]
    while pending:
        symbol = pending.pop()
        if symbol in seen:
            continue
        seen.add(symbol)
        arguments = arguments_of(symbol)
        if arguments:
            pending += [s for argument in reversed(arguments) for s in reversed(argument.symbols())]
        else:
            found[symbol] = None
    return list(found)


def _broadcast(a: int, b: int) -> int:
    return b if a == 1 else a


def _product(*factors: int) -> int:
    return prod(factors)


_COMPUTED: Mapping[str, Callable[..., int]] = {
    SizeOp.ADD: int.__add__,
    SizeOp.SUB: int.__sub__,
    SizeOp.MUL: _product,
    SizeOp.FLOORDIV: int.__floordiv__,
    SizeOp.MOD: int.__mod__,
    SizeOp.MAX: max,
    SizeOp.MIN: min,
    SizeOp.BROADCAST: _broadcast,
    **MEASURES,
}
"""The function of each kind of symbol that follows from others."""


@dataclass
class Values:
    """Evaluates sizes at a point."""

    point: Point
    _known: dict[Symbol, int] = field(default_factory=dict[Symbol, int])

    def of(self, size: Expr) -> int:
        """Return the value of `size`, at least 0."""
        self._compute(size.symbols())
        return max(0, size.value(self._known))

    def _compute(self, symbols: list[Symbol]) -> None:
        pending = [symbol for symbol in symbols if symbol not in self._known]
        while pending:
            symbol = pending[-1]
            arguments = arguments_of(symbol)
            missing = [s for a in arguments for s in a.symbols() if s not in self._known]
            if missing and symbol not in self._known:
                pending += missing
                continue
            pending.pop()
            if symbol not in self._known:
                self._known[symbol] = self._value(symbol, arguments)

    def _value(self, symbol: Symbol, arguments: list[Expr]) -> int:
        if not arguments:
            return self.point[symbol]
        if symbol.kind == TOTAL:
            layout = symbol.args[0]
            assert isinstance(layout, PoolTotal)
            values = [a.value(self._known) for a in arguments]
            return min(layout.total(values, on_integers), MAX_SIZE)
        try:
            value = int(_COMPUTED[symbol.kind](*(a.value(self._known) for a in arguments)))
        except (ArithmeticError, ValueError, TypeError):  # it fails when the program runs
            return LEVELS[0]
        return value if abs(value) < MAX_SIZE else MAX_SIZE


def points_of(symbols: Sequence[Symbol]) -> Iterator[Point]:
    """Yield the points at which sizes are sampled."""
    levels = {symbol: levels_of(bounds_of(symbol)) for symbol in symbols}
    for level in range(len(LEVELS)):
        yield {symbol: values[level] for symbol, values in levels.items()}
    if len(symbols) < 2:
        return
    middle = {symbol: values[1] for symbol, values in levels.items()}
    large = {symbol: values[-1] for symbol, values in levels.items()}
    for symbol in symbols[:MAX_SYMBOLS]:
        yield {**middle, symbol: levels[symbol][-1]}
        yield {**large, symbol: levels[symbol][0]}


def samples_of(sizes: Sequence[Expr], limit: int) -> list[Sample]:
    """Return `sizes` at sample points, each combination once, those whose sum is below `limit`."""
    distinct = list(dict.fromkeys(sizes))
    found: dict[tuple[int, ...], Point] = {}
    for point in points_of(free_symbols(distinct)):
        values = Values(point)
        known = {size: values.of(size) for size in distinct}
        sample = tuple(known[size] for size in sizes)
        if sum(sample) < limit:
            found.setdefault(sample, point)
    return [Sample(point, sample) for sample, point in found.items()]
