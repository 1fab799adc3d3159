"""
Einstein's sums: transposes, sums, and products of stacks of matrices.

    einsum("bij,bkj->bik", x, y)  =  nn.batch_matmul(x, y)

Operands are multiplied from left to right. Axes are named by the letters of the equation; those
that `...` stands for by numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias

from .program_numbers import N

MAX_RANK = 64
"""Limit on the axes of an operand: that of NumPy."""

Axis = str
Axes = tuple[Axis, ...]
Fault: TypeAlias = Callable[[str], Exception]
"""Returns the error about the operator."""


@dataclass(frozen=True)
class Factor(Generic[N]):
    """A tensor whose axes have names."""

    value: N
    axes: Axes

    @property
    def sizes(self) -> dict[Axis, Any]:
        """The size of each axis; an `int` if it is known before the program runs."""
        return dict(zip(self.axes, self.value.open_dims, strict=True))


def _parsed(fault: Fault, equation: str, operands: Sequence[N]) -> tuple[list[Factor[N]], Axes]:
    """Return the operands with their axes, and the axes of the result."""
    text = equation.replace(" ", "")
    if re.fullmatch(r"[a-zA-Z.,]*(->[a-zA-Z.]*)?", text) is None:
        raise fault(f'the equation is "{equation}"; supported: letters, "...", "," and "->"')
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise fault(f"the equation has {len(terms)} operands, but there are {len(operands)}")
    axes = (_axes(fault, term, len(x.open_dims)) for term, x in zip(terms, operands, strict=True))
    factors = list(map(Factor, operands, axes))
    hidden = sorted({axis for f in factors for axis in f.axes if axis.isdigit()}, key=int)
    hidden.reverse()  # the last axis of `...` is called 0
    if arrow:
        before, dots, after = result.partition("...")
        wanted = (*before, *(hidden if dots else ()), *after)
    else:
        counts = Counter(inputs)
        letters = sorted(c for c in counts if c.isalpha() and counts[c] == 1)
        wanted = (*hidden, *letters)
    named = {axis for f in factors for axis in f.axes}
    if not named.issuperset(wanted) or len({*wanted}) != len(wanted):
        raise fault(f'the result of "{equation}" has unknown or repeated axes')
    return factors, wanted


def _axes(fault: Fault, term: str, rank: int) -> Axes:
    if rank > MAX_RANK:
        raise fault(f"an operand has rank {rank}; supported: up to {MAX_RANK}")
    before, dots, after = term.partition("...")
    count = rank - len(before) - len(after)
    if "." in before + after or count < 0 or (count and not dots):
        raise fault(f'operand "{term}" of the equation has rank {rank}')
    return (*before, *map(str, reversed(range(count))), *after)


def _without_repeats(fault: Fault, factor: Factor[N]) -> Factor[N]:
    """Replace two axes of one name by their diagonal, every (size + 1)-th element of both."""
    while repeated := [axis for axis, n in Counter(factor.axes).items() if n > 1]:
        axis = repeated[0]
        places = [i for i, other in enumerate(factor.axes) if other == axis][:2]
        kept = [i for i in range(len(factor.axes)) if i not in places]
        shape = factor.value.dims
        size, other = (shape[i] for i in places)
        if size != other:
            raise fault(f'axis "{axis}" has sizes {size} and {other}')
        y = factor.value.permuted(*kept, *places).viewed(*(shape[i] for i in kept), size * size)
        ends, axes = {"begin": (0,), "end": (size * size,)}, (len(kept),)
        y = y.call("strided_slice", strides=(size + 1,), axes=axes, **ends)
        factor = Factor(y, (*(factor.axes[i] for i in kept), axis))
    return factor


def _summed(factor: Factor[N], axes: Sequence[Axis]) -> Factor[N]:
    """Sum over `axes`."""
    places = tuple(i for i, axis in enumerate(factor.axes) if axis in axes)
    if not places:
        return factor
    kept = tuple(axis for axis in factor.axes if axis not in axes)
    return Factor(factor.value.call("sum", axis=places), kept)


def _ordered(factor: Factor[N], groups: Sequence[Axes]) -> N:
    """Return the tensor with one dim for each group of axes."""
    order = [factor.axes.index(axis) for group in groups for axis in group]
    return factor.value.permuted(*order).grouped(*map(len, groups))


def _product(fault: Fault, left: Factor[N], right: Factor[N], wanted: frozenset[Axis]) -> Factor[N]:
    """Multiply; sum over the common axes that neither the result nor a later operand has."""
    for axis in {*left.axes} & {*right.axes}:
        one, other = left.sizes[axis], right.sizes[axis]
        if one != other and {type(one), type(other)} == {int} and 1 not in (one, other):
            raise fault(f'axis "{axis}" has sizes {one} and {other}')
        if one != other and 1 in (one, other):  # it broadcasts; open sizes are equal
            left, right = (_summed(f, [axis]) if f.sizes[axis] == 1 else f for f in (left, right))
    left = _summed(left, [a for a in left.axes if a not in wanted and a not in right.axes])
    right = _summed(right, [a for a in right.axes if a not in wanted and a not in left.axes])
    common = [axis for axis in left.axes if axis in right.axes]
    batch = tuple(axis for axis in common if axis in wanted)
    inner = tuple(axis for axis in common if axis not in wanted)
    rows = tuple(axis for axis in left.axes if axis not in common)
    columns = tuple(axis for axis in right.axes if axis not in common)
    for axis in (axis for merged in (batch, inner) if len(merged) > 1 for axis in merged):
        left.value.require_equal(left.axes.index(axis), right.value, right.axes.index(axis))
    x, y = _ordered(left, (batch, rows, inner)), _ordered(right, (batch, columns, inner))
    z = x.call("nn.batch_matmul", y, transpose_b=True)
    sizes, axes = {**left.sizes, **right.sizes}, (*batch, *rows, *columns)
    if not len(batch) == len(rows) == len(columns) == 1:
        z = z.viewed(*(sizes[axis] for axis in axes))
    return Factor(z, axes)


def einsum(fault: Fault, equation: str, operands: Sequence[N]) -> N:
    """Build the sum of products that the equation denotes."""
    factors, wanted = _parsed(fault, equation, operands)
    product, *others = [_without_repeats(fault, factor) for factor in factors]
    for i, factor in enumerate(others):
        later = {axis for other in others[i + 1 :] for axis in other.axes}
        product = _product(fault, product, factor, frozenset({*wanted, *later}))
    product = _summed(product, [axis for axis in product.axes if axis not in wanted])
    return product.value.permuted(*(product.axes.index(axis) for axis in wanted))
