"""
Measures of sizes that are not known yet, where arithmetic on expressions can compute them.

    slice_length(n, 1, n, 1)                                      max(n - 1, 0)
    slice_length(n, 0, 9223372036854775807, 1)                    n
    arange_length(0, n + m, 1)                                    n + m
    reshaped_dim(2, …, dims (n, 12*m), entries (n, 12, -1))       m

A measure that checks its arguments is expressed only if the checks hold for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..measures import MAX_SIZE
from .size_expressions import Expr

Apply: TypeAlias = Callable[..., Expr]
"""Does an operation on expressions and integers."""

Form: TypeAlias = Callable[[Apply, Sequence[Expr]], Expr | None]
"""Returns a measure of `args` as arithmetic; None if it is not."""


def slice_length(apply: Apply, args: Sequence[Expr]) -> Expr | None:
    """Return the length of a slice of stride 1, of which both ends count from one side each."""
    dim, begin, end, stride = args
    if stride.constant != 1:
        return None
    first, last = (_position(apply, dim, position) for position in (begin, end))
    if first is None or last is None:
        return None
    return apply("max", apply("sub", last, first), 0)


def _position(apply: Apply, dim: Expr, position: Expr) -> Expr | None:
    """Return the clamped start or end of a slice; None if its sign is not known."""
    constant = position.constant
    if constant is not None and constant >= MAX_SIZE:
        return dim
    if position.is_natural:
        return apply("min", dim, position)
    return None if constant is None else apply("max", dim + constant, 0)


def arange_length(apply: Apply, args: Sequence[Expr]) -> Expr | None:
    """Return the length of a range of integers whose step is a constant other than 0."""
    start, stop, step = args
    by = step.constant
    if not by:
        return None
    span = apply("sub", stop, start) if by > 0 else apply("sub", start, stop)
    steps = apply("floordiv", span + (abs(by) - 1), abs(by))
    return apply("max", steps, 0)


def reshaped_dim(apply: Apply, args: Sequence[Expr]) -> Expr | None:
    """Return a dim of a reshaped tensor, if it has as many elements for all sizes."""
    axis, allowzero, rank = (arg.constant for arg in args[:3])
    if axis is None or rank is None:
        return None
    dims, entries = args[3 : 3 + rank], args[3 + rank :]
    made: list[Expr] = []
    inferred: int | None = None
    copied: set[int] = set()
    for i, entry in enumerate(entries):
        if entry.constant == -1 and inferred is None:
            inferred = i
        elif not allowzero and i < rank and (entry.constant == 0 or entry == dims[i]):
            copied.add(i)
            entry = dims[i]
        elif not entry.is_natural or (not allowzero and not entry.lower_bound):
            return None
        made.append(entry)
    if inferred is not None:
        before = apply("mul", 1, *(dim for i, dim in enumerate(dims) if i not in copied))
        others = [d for i, d in enumerate(made) if i not in copied and i != inferred]
        found = before.quotient(apply("mul", 1, *others))
        if found is None or not all(dim.lower_bound for dim in others):
            return None
        made[inferred] = found
    same = apply("mul", 1, *made) == apply("mul", 1, *dims)
    return made[axis] if same else None


def staying_dim(apply: Apply, args: Sequence[Expr]) -> Expr | None:
    """
    Return a dim of a reshaped tensor, wherever the reshape is valid.

    An entry that is not negative is a dim, unless it may be 0 and copy another: the first dims and
    the last ones so stay, and one that is inferred is the quotient of the others.
    """
    axis, allowzero, rank = (arg.constant for arg in args[:3])
    if axis is None or rank is None:
        return None
    dims, entries = args[3 : 3 + rank], args[3 + rank :]

    def dim(i: int) -> Expr | None:
        entry = entries[i]
        if allowzero or i >= rank or entry.lower_bound:
            return entry if entry.is_natural else None
        if entry.constant == 0:
            return dims[i]
        return entry if entry.is_natural and dims[i].quotient(entry) is not None else None

    if axis >= len(entries) or entries[axis].constant != -1:
        return dim(axis) if axis < len(entries) else None
    others = [dim(i) for i in range(len(entries)) if i != axis]
    known = [other for other in others if other is not None]
    if len(known) < len(others):
        return None
    return apply("mul", 1, *dims).quotient(apply("mul", 1, *known))


VALID_FORMS: Mapping[str, Form] = {"reshaped_dim": staying_dim}
"""The arithmetic of measures wherever they have a value; they check their arguments besides."""

MEASURE_FORMS: Mapping[str, Form] = {
    "slice_length": slice_length,
    "arange_length": arange_length,
    "reshaped_dim": reshaped_dim,
}
"""The arithmetic of each measure that has some."""
