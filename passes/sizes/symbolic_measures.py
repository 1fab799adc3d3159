"""
Measures of sizes that are not known yet, where arithmetic on polynomials can express them.

    slice_length(n, 1, n, 1)                              max(n - 1, 0)
    slice_length(n, 0, 9223372036854775807, 1)            n
    reshaped_dim(2, …, dims (n, 12*m), entries (n, 12, -1))       m

A measure that checks its arguments is expressed only if the checks hold for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ...operators.measures import MAX_SIZE, MEASURES
from ...operators.sizes import SizeOp
from ...operators.sizes.algebra import Algebra
from ...operators.sizes.size_expressions import Expr

Argument: TypeAlias = Expr | float

Measure: TypeAlias = Callable[[Algebra, Sequence[Expr]], "Expr | None"]

SIGNED = ("rounded_product",)
"""The measures that may be below 0."""


def is_natural(size: Expr) -> bool:
    bound = size.lower_bound
    return bound is not None and bound >= 0


def slice_length(algebra: Algebra, args: Sequence[Expr]) -> Expr | None:
    """Return the length of a slice of stride 1, of which both ends count from one side each."""
    dim, begin, end, stride = args
    if stride.constant != 1:
        return None
    first, last = (_position(algebra, dim, position) for position in (begin, end))
    if first is None or last is None:
        return None
    length = algebra.binary(SizeOp.SUB, last, first)
    return algebra.binary(SizeOp.MAX, length, Expr.of(0))


def _position(algebra: Algebra, dim: Expr, position: Expr) -> Expr | None:
    """Return the clamped start or end of a slice; None if its sign is not known."""
    constant = position.constant
    if constant is not None and constant >= MAX_SIZE:
        return dim
    if is_natural(position):
        return algebra.binary(SizeOp.MIN, dim, position)
    if constant is None:
        return None
    return algebra.binary(SizeOp.MAX, dim + constant, Expr.of(0))


def reshaped_dim(algebra: Algebra, args: Sequence[Expr]) -> Expr | None:
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
        elif not is_natural(entry) or (not allowzero and not entry.lower_bound):
            return None
        made.append(entry)
    if inferred is not None:
        before = algebra.product([dim for i, dim in enumerate(dims) if i not in copied])
        rest = [d for i, d in enumerate(made) if i not in copied and i != inferred]
        found = before.quotient(algebra.product(rest))
        if found is None or not all(dim.lower_bound for dim in rest):
            return None
        made[inferred] = found
    same = algebra.product(made) == algebra.product(dims)
    return made[axis] if same else None


SYMBOLIC: Mapping[str, Measure] = {
    "reshaped_dim": reshaped_dim,
    "slice_length": slice_length,
}


def symbolic_measure(algebra: Algebra, name: str, args: Sequence[Argument]) -> Expr | None:
    """
    Return the measure `name` of `args`; None if it is not a polynomial.

    Raises `ValueError` if the measure has no value for its arguments.
    """
    numbers = [arg.constant if isinstance(arg, Expr) else arg for arg in args]
    known = [number for number in numbers if number is not None]
    if len(known) == len(args):
        return Expr.of(MEASURES[name](*known))
    sizes = [arg for arg in args if isinstance(arg, Expr)]
    measure = SYMBOLIC.get(name)
    if measure is None or len(sizes) != len(args):
        return None
    return measure(algebra, sizes)
