"""
Relations of sizes that hold whatever their symbols are.

    holds(Check.AT_LEAST, max(n, m) + 4, m)             True
    holds(Check.AT_LEAST, 64*((n + 63) // 64), n)       True
    holds(Check.EQUAL, n, n + 1)                        False
    holds(Check.EQUAL, n, m)                            None: for some it does
"""

from __future__ import annotations

from collections.abc import Iterator

from .size_expressions import Expr, inner_first
from .size_table import TOTAL, Check, SizeOp

MAX_TRIED = 256
"""
The maximum number of sizes that a difference is compared with, besides one for each operand in it.

So a maximum of any number of sizes, or the total of a pack, is known to be at least each of them.
"""


def holds(check: Check, left: Expr, right: Expr) -> bool | None:
    """Test whether the relation `check` always holds, or never does; None if neither is certain."""
    a, b = left.constant, right.constant
    if a is not None and b is not None:
        return check.holds(a, b)
    match check:
        case Check.EQUAL:
            if left == right:
                return True
            return False if at_least(left, right + 1) or at_least(right, left + 1) else None
        case Check.AT_LEAST:
            return True if at_least(left, right) else False if at_least(right, left + 1) else None
        case Check.AT_MOST:
            return holds(Check.AT_LEAST, right, left)
        case Check.DIVISIBLE:
            if b is not None:
                return True if b > 0 and left.divisor % b == 0 else None
            return True if right.is_positive and left.quotient(right) is not None else None
        case Check.ONE_OR_EQUAL:
            return True if left == right or a == 1 else None
        case Check.BROADCAST:
            return True if left == right or 1 in (a, b) else None


def at_least(left: Expr, right: Expr) -> bool:
    """Test whether it is known that `left >= right`."""
    if left == right:
        return True
    difference = left - right if right.terms else left
    if difference.is_natural:
        return True
    tried, pending, limit = {difference}, [difference], MAX_TRIED
    while pending and len(tried) < limit:
        size = pending.pop()
        if size.is_natural:
            return True
        for lower in _below(size):
            if lower not in tried:
                tried.add(lower)
                pending.append(lower)
        if len(tried) >= limit == MAX_TRIED:
            limit += sum(len(symbol.operands) for symbol in inner_first([difference]))
    return False


def _below(size: Expr) -> Iterator[Expr]:
    """Yield sizes that `size` is at least: one operation replaced by what it exceeds."""
    rounded: list[Expr] = []
    for monomial, factor in size.terms:
        symbol = monomial[0] if len(monomial) == 1 else None
        if symbol is None or not symbol.operands:
            continue
        if symbol.kind in ((SizeOp.MAX, TOTAL) if factor > 0 else (SizeOp.MIN,)):
            others = size - Expr(((monomial, factor),))
            yield from (others + operand * factor for operand in symbol.operands)
            return
        if symbol.kind == SizeOp.FLOORDIV and not rounded:
            dividend, divisor = symbol.operands
            unit = divisor.constant or 0
            if unit > 0 and factor % unit == 0:
                least = dividend - (unit - 1) if factor > 0 else dividend
                rounded.append(size - Expr(((monomial, factor),)) + least * (factor // unit))
    yield from rounded
