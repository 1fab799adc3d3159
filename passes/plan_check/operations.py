"""
Inequalities of sizes that are known without a search, and divisors of sizes.

    max(a, 4*n) >= 4*n                   a maximum is at least each of its operands
    64*((4*n + 63) // 64) >= 4*n         rounding up
    total(a, b on (0)) >= a              an arena is at least each of its slices

A size is compared with what is below it, one operation after the other; equal sizes are equal
polynomials. There is no case distinction, and no budget: an expression has as many parts as it has.
"""

from __future__ import annotations

from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import TOTAL, Expr, Symbol
from ..sizes.program_sizes import PACK, Packed
from ..sizes.symbolic_measures import is_natural

ZERO = Expr.of(0)

SIZE_OPS = frozenset[str](SizeOp)


def args_of(symbol: Symbol) -> list[Expr]:
    """Return the operands of the operation on sizes that `symbol` is."""
    return [arg for arg in symbol.args if isinstance(arg, Expr)]


def packed_of(symbol: Symbol) -> tuple[Packed, int] | None:
    """Return the results of a `memory.pack`, and the number of the one that `symbol` is."""
    if symbol.kind != PACK:
        return None
    number, packed = symbol.args[:2]
    assert isinstance(number, int)
    assert isinstance(packed, Packed)
    return packed, number


def at_least(left: Expr, right: Expr) -> bool:
    """Test whether it is known that `left >= right`."""
    difference = left - right if right.terms else left
    found, pending = {difference}, [difference]
    while pending:
        size = pending.pop()
        if is_natural(size):
            return True
        for lower in below(size):
            if lower not in found:
                found.add(lower)
                pending.append(lower)
    return False


def below(size: Expr) -> list[Expr]:
    """Return sizes that `size` is at least: one of its operations replaced by what it exceeds."""
    rounded: list[Expr] = []
    for monomial, factor in size.terms:
        symbol = monomial[0] if len(monomial) == 1 else None
        if symbol is None:
            continue
        args = args_of(symbol)
        if symbol.kind in ((SizeOp.MAX, TOTAL) if factor > 0 else (SizeOp.MIN,)):
            rest = size - Expr(((monomial, factor),))
            return [rest + arg * factor for arg in args]
        divisor = args[1].constant if symbol.kind == SizeOp.FLOORDIV and factor > 0 else None
        if divisor is not None and divisor > 0 and factor % divisor == 0 and not rounded:
            rest = size - Expr(((monomial, factor),))
            rounded = [rest + (args[0] - (divisor - 1)) * (factor // divisor)]
    return rounded


def is_multiple(size: Expr, of: int) -> bool:
    """Test whether `size` is a multiple of `of` for all values of its symbols."""
    return all(
        coefficient % of == 0 or any(_symbol_is_multiple(symbol, of) for symbol in monomial)
        for monomial, coefficient in size.terms
    )


def _symbol_is_multiple(symbol: Symbol, of: int) -> bool:
    result = packed_of(symbol)
    if result is not None:
        packed, number = result
        return number > 0 and _is_aligned(packed, number - 1, of)
    if symbol.kind in (SizeOp.MAX, SizeOp.MIN):
        return all(is_multiple(arg, of) for arg in args_of(symbol))
    return False


def _is_aligned(packed: Packed, i: int, of: int) -> bool:
    """Test whether the offset of slice `i` is a multiple of `of`, by that of its piece."""
    packing = packed.packing
    if not packing.rows:
        return packing.alignment % of == 0
    row = packing.rows[i]
    if row.at is not None:
        return row.at % of == 0
    if row.beside is not None:
        return _is_aligned(packed, row.beside, of) and _ends_aligned(packed, row.beside, of)
    below = row.tied if row.over is None else row.over[0]
    return packing.alignment % of == 0 if below is None else _is_aligned(packed, below, of)


def _ends_aligned(packed: Packed, i: int, of: int) -> bool:
    """Test whether the size of slice `i` is a multiple of `of`."""
    over = packed.packing.rows[i].over
    return is_multiple(packed.sizes[i], of) if over is None else _ends_aligned(packed, over[1], of)
