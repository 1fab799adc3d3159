"""The results of packs among the symbols of sizes, and what divides them."""

from __future__ import annotations

from ...operators.sizes.size_expressions import Expr, Symbol
from ..sizes.reader import PACK, Packed

ZERO = Expr.of(0)


def packed_of(symbol: Symbol) -> tuple[Packed, int] | None:
    """Return the pack whose slice's offset `symbol` is, and the number of the slice."""
    if symbol.kind != PACK:
        return None
    number, packed = symbol.args[:2]
    assert isinstance(number, int)
    assert isinstance(packed, Packed)
    return (packed, number - 1) if number > 0 else None


def is_multiple(size: Expr, of: int) -> bool:
    """Test whether `size` is a multiple of `of` for all values of its symbols."""
    return all(
        factor % of == 0 or any(_is_symbol_multiple(symbol, of) for symbol in monomial)
        for monomial, factor in size.terms
    )


def _is_symbol_multiple(symbol: Symbol, of: int) -> bool:
    place = packed_of(symbol)
    return symbol.divisor % of == 0 if place is None else _is_aligned(*place, of)


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
    """Test whether slice `i`, which starts at a multiple of `of`, ends at one."""
    return is_multiple(packed.size_of(i), of)
