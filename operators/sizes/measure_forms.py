"""
Measures of sizes that are not known yet, where arithmetic on expressions can compute them.

    slice_length(n, 1, n, 1)                                      max(n - 1, 0)
    slice_length(n, 0, 9223372036854775807, 1)                    n
    arange_length(0, n + m, 1)                                    n + m
    reshaped_dim(2, …, dims (n, 12*m), entries (n, 12, -1))       m

A measure that checks its arguments is expressed only if the checks hold for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from ..measures import MAX_SIZE
from .size_expressions import Expr, Symbol
from .size_table import SELECT


class Arithmetic(Protocol):
    """Does operations on expressions."""

    def apply(self, op: str, *operands: Any) -> Expr:
        """Return `op` on expressions and integers."""
        ...

    def where(self, size: Expr, values: Mapping[Symbol, int]) -> Expr:
        """Return `size` where symbols have these values."""
        ...

    def product(self, sizes: Iterable[Expr]) -> Expr:
        """Return the product of `sizes`."""
        ...


Form: TypeAlias = Callable[[Arithmetic, Sequence[Expr]], Expr | None]
"""Returns a measure of `args` as arithmetic; None if it is not."""

MAX_CHOICES = 2
"""The maximum number of entries of a reshape that may be 0 in the formula of an inferred dim."""


def slice_length(a: Arithmetic, args: Sequence[Expr]) -> Expr | None:
    """Return the length of a slice of stride 1, of which both ends count from one side each."""
    dim, begin, end, stride = args
    if stride.constant != 1:
        return None
    first, last = (_position(a, dim, position) for position in (begin, end))
    if first is None or last is None:
        return None
    return a.apply("max", a.apply("sub", last, first), 0)


def _position(a: Arithmetic, dim: Expr, position: Expr) -> Expr | None:
    """Return the clamped start or end of a slice; None if its sign is not known."""
    constant = position.constant
    if constant is not None and constant >= MAX_SIZE:
        return dim
    if position.is_natural:
        return a.apply("min", dim, position)
    return None if constant is None else a.apply("max", dim + constant, 0)


def arange_length(a: Arithmetic, args: Sequence[Expr]) -> Expr | None:
    """Return the length of a range of integers whose step is a constant other than 0."""
    start, stop, step = args
    by = step.constant
    if not by:
        return None
    span = a.apply("sub", stop, start) if by > 0 else a.apply("sub", start, stop)
    steps = a.apply("floordiv", span + (abs(by) - 1), abs(by))
    return a.apply("max", steps, 0)


def reshaped_dim(a: Arithmetic, args: Sequence[Expr]) -> Expr | None:
    """Return a dim of a reshaped tensor, if the reshape is valid for all sizes."""
    axis, allowzero, rank = (arg.constant for arg in args[:3])
    if axis is None or rank is None:
        return None
    dims, entries = args[3 : 3 + rank], args[3 + rank :]
    is_inferred = any(entry.constant == -1 for entry in entries)
    for i, entry in enumerate(entries):
        copies = not allowzero and i < rank and entry in (dims[i], Expr.of(0))
        fits = entry.is_natural if allowzero and not is_inferred else entry.is_positive
        if not (copies or fits or entry.constant == -1):
            return None
    made = [staying_dim(a, [Expr.of(i), *args[1:]]) for i in range(len(entries))]
    known = [dim for dim in made if dim is not None]
    same = len(known) == len(made) and a.product(known) == a.product(dims)
    return made[axis] if same else None


def staying_dim(a: Arithmetic, args: Sequence[Expr]) -> Expr | None:
    """
    Return a dim of a reshaped tensor, wherever the reshape is valid.

    An entry that is not negative is a dim, unless it is 0 and copies another; if it may be 0, that
    is a choice. One that is inferred is the quotient of the others, of which those that are copied
    do not count; 0 that is not copied does not occur.
    """
    axis, allowzero, rank = (arg.constant for arg in args[:3])
    if axis is None or rank is None:
        return None
    dims, entries = args[3 : 3 + rank], args[3 + rank :]

    def may_copy(i: int) -> bool:
        return not allowzero and i < rank and not entries[i].is_positive

    def inferred(copied: Sequence[int], open: Sequence[int]) -> Expr | None:
        if not open:
            others = (e for i, e in enumerate(entries) if i not in (axis, *copied))
            before = (dim for i, dim in enumerate(dims) if i not in copied)
            return a.product(before).quotient(a.product(others))
        first, *rest = open
        there, copying = inferred(copied, rest), inferred([*copied, first], rest)
        if there is None or copying is None:
            return None
        return _unless_zero(a, entries[first], there, copying)

    if axis >= len(entries):
        return None
    entry = entries[axis]
    if entry.is_natural:
        return _unless_zero(a, entry, entry, dims[axis]) if may_copy(axis) else entry
    others = [i for i in range(len(entries)) if i != axis]
    if entry.constant != -1 or not all(entries[i].is_natural for i in others):
        return None
    copied = [i for i in others if may_copy(i) and entries[i] in (dims[i], Expr.of(0))]
    open = [i for i in others if may_copy(i) and i not in copied]
    return inferred(copied, open) if len(open) <= MAX_CHOICES else None


def _unless_zero(a: Arithmetic, size: Expr, there: Expr, zero: Expr) -> Expr:
    """Return `there` if `size`, which is natural, is not 0, else `zero`."""
    zero = _where_zero(a, zero, size)
    if _where_zero(a, there, size) == zero:
        return there
    return a.apply(SELECT, 0, size, there, zero)


def _where_zero(a: Arithmetic, size: Expr, zero: Expr) -> Expr:
    """Return `size` where `zero`, which is natural, is 0."""
    if zero.terms and size.quotient(zero) is not None:
        return Expr.of(0)
    if any(not monomial or c < 0 for monomial, c in zero.terms):
        return size
    if not all(symbol.natural for symbol in zero.symbols()):
        return size
    powers = (set(monomial) for monomial, _ in zero.terms)
    return a.where(size, {symbol: 0 for power in powers if len(power) == 1 for symbol in power})


MEASURE_FORMS: Mapping[str, Form] = {
    "slice_length": slice_length,
    "arange_length": arange_length,
    "reshaped_dim": reshaped_dim,
}
"""The arithmetic of each measure that has some."""

VALID_FORMS: Mapping[str, Form] = {**MEASURE_FORMS, "reshaped_dim": staying_dim}
"""The arithmetic of measures wherever they have a value; they check their arguments besides."""
