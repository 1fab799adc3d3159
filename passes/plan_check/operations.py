"""
Sizes that are operations: their operands, the cases of selections, and sizes that they exceed.

    max(a, b)                   is at least a, and at least b
    select(a < b, c, d)         is c in the case a < b, and d otherwise
"""

from __future__ import annotations

from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import Expr, Monomial, Symbol
from ...operators.sizes.size_table import SELECT
from ..sizes.reader import PACK, Packed

ZERO = Expr.of(0)

ONE = Expr.of(1)

SIZE_OPS = frozenset[str](SizeOp)

EXTREMA = (SizeOp.MAX, SizeOp.MIN)


def args_of(symbol: Symbol) -> list[Expr]:
    """Return the operands of the operation on sizes that `symbol` is."""
    return [arg for arg in symbol.args if isinstance(arg, Expr)]


def without(monomial: Monomial, symbol: Symbol) -> Monomial:
    """Return `monomial` without one factor `symbol`, which it has."""
    at = monomial.index(symbol)
    return monomial[:at] + monomial[at + 1 :]


def substituted(size: Expr, symbol: Symbol, value: Expr) -> Expr:
    """Return `size` with `value` in place of one factor `symbol` of each term that has it."""
    found = ZERO
    for monomial, coefficient in size.terms:
        if symbol not in monomial:
            found += Expr(((monomial, coefficient),))
            continue
        found += Expr(((without(monomial, symbol), coefficient),)) * value
    return found


def conditions(size: Expr) -> list[Condition]:
    """Return the conditions of the selections in `size`."""
    return list(dict.fromkeys(condition_of(s) for s in size.symbols() if s.kind == SELECT))


Condition = tuple[Expr, Expr]
"""The first is less than the second."""


def condition_of(symbol: Symbol) -> Condition:
    less, more, *_ = args_of(symbol)
    return less, more


def resolved(size: Expr, condition: Condition, holds: bool) -> Expr:
    """Return `size` with what is selected if `condition` holds or does not."""
    while True:
        chosen = next(
            (s for s in size.symbols() if s.kind == SELECT and condition_of(s) == condition), None
        )
        if chosen is None:
            return size
        size = substituted(size, chosen, args_of(chosen)[2 if holds else 3])


Case = tuple[tuple[Condition, bool], ...]
"""Conditions, and if each holds."""

MAX_CASES = 64
"""The maximum number of cases of a size."""


def cases_of(size: Expr) -> list[Case]:
    """Return the cases in which what is selected in `size` is known."""
    found: list[Case] = []
    pending: list[tuple[Case, Expr]] = [((), size)]
    while pending:
        case, left = pending.pop()
        open = conditions(left) if len(found) + len(pending) < MAX_CASES else []
        if not open:
            found.append(case)
            continue
        for holds in (True, False):
            pending.append(((*case, (open[0], holds)), resolved(left, open[0], holds)))
    return found


def in_case(size: Expr, case: Case) -> Expr:
    """Return `size` with what is selected in `case`."""
    for condition, holds in case:
        size = resolved(size, condition, holds)
    return size


def kind_of(symbol: Symbol) -> SizeOp | None:
    """Return the operation that `symbol` is; a selection may be a maximum or minimum."""
    if symbol.kind == SELECT:
        less, more, left, right = args_of(symbol)
        if (left, right) == (less, more):
            return SizeOp.MIN
        return SizeOp.MAX if (left, right) == (more, less) else None
    return SizeOp(symbol.kind) if symbol.kind in SIZE_OPS else None


def packed_of(symbol: Symbol) -> tuple[Packed, int] | None:
    """Return the results of a `memory.pack`, and the number of the one that `symbol` is."""
    if symbol.kind != PACK:
        return None
    number, packed = symbol.args[:2]
    assert isinstance(number, int)
    assert isinstance(packed, Packed)
    return packed, number


def is_operation(symbol: Symbol) -> bool:
    """Test whether the value of `symbol` follows from those of its operands."""
    return symbol.kind == SELECT or symbol.kind in SIZE_OPS


def lower_bounds(size: Expr) -> list[Expr]:
    """Return sizes that `size` is at least, for any values: without its first operation."""
    for monomial, c in size.terms:
        symbol = monomial[0] if len(monomial) == 1 else None
        if symbol is None or c < 0:
            continue
        kind, result = kind_of(symbol), packed_of(symbol)
        if kind is None and (result is None or result[1]):
            continue
        if any(symbol in other for other, _ in size.terms if other is not monomial):
            continue
        rest = size - Expr(((monomial, c),))
        args = args_of(symbol)[-2:]
        if kind == SizeOp.MAX:
            return [rest + arg * c for arg in args]
        if kind == SizeOp.ADD:
            return [rest + (args[0] + args[1]) * c]
        divisor = args[1].constant if kind == SizeOp.FLOORDIV else None
        if divisor is not None and divisor > 0 and c % divisor == 0:
            return [rest + (args[0] - (divisor - 1)) * (c // divisor)]
        if result is not None:
            return [rest + result[0].end(i) * c for i in range(len(result[0].sizes))]
    return []
