"""
Einstein's sums: transposes, sums, and products of stacks of matrices.

    einsum("bij,bkj->bik", x, y)  =  nn.batch_matmul(x, y)

Operands are multiplied from left to right. Axes are named by the letters of the equation; those
that `...` stands for by numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, shape_of
from .rule import Rules, since

MAX_RANK = 64
"""Limit on the axes of an operand: that of NumPy."""

Axis = str
Axes = tuple[Axis, ...]


@dataclass(frozen=True)
class Factor:
    """A tensor whose axes have names."""

    value: Value
    axes: Axes

    @property
    def sizes(self) -> dict[Axis, int]:
        return dict(zip(self.axes, shape_of(self.value), strict=True))


def _parsed(node: Node, equation: str, operands: Sequence[Value]) -> tuple[list[Factor], Axes]:
    """Return the operands with their axes, and the axes of the result."""
    text = equation.replace(" ", "")
    if re.fullmatch(r"[a-zA-Z.,]*(->[a-zA-Z.]*)?", text) is None:
        raise node.error(
            f'attribute equation is "{equation}"; supported: letters, "...", "," and "->"'
        )
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise node.error(f"the equation has {len(terms)} operands, the node {len(operands)}")
    factors = [
        Factor(x, _axes(node, t, len(shape_of(x)))) for t, x in zip(terms, operands, strict=True)
    ]
    hidden = sorted({axis for f in factors for axis in f.axes if axis.isdigit()}, key=int)
    hidden.reverse()  # the last axis of `...` is called 0
    if arrow:
        before, dots, after = result.partition("...")
        wanted = (*before, *(hidden if dots else ()), *after)
    else:
        counts = Counter(inputs)
        letters = sorted(c for c in counts if c.isalpha() and counts[c] == 1)
        wanted = (*hidden, *letters)
    known = {axis for f in factors for axis in f.axes}
    unknown = [axis for axis in wanted if axis not in known]
    if unknown or len({*wanted}) != len(wanted):
        raise node.error(f'the result of "{equation}" has unknown or repeated axes')
    return factors, wanted


def _axes(node: Node, term: str, rank: int) -> Axes:
    if rank > MAX_RANK:
        raise node.error(f"an operand has rank {rank}; supported: up to {MAX_RANK}")
    before, dots, after = term.partition("...")
    count = rank - len(before) - len(after)
    if "." in before + after or count < 0 or (count and not dots):
        raise node.error(f'operand "{term}" of the equation has rank {rank}')
    return (*before, *map(str, reversed(range(count))), *after)


def _without_repeats(factor: Factor, b: Builder) -> Factor:
    """Return the diagonals of axes of the same name."""
    while repeated := [axis for axis, n in Counter(factor.axes).items() if n > 1]:
        axis = repeated[0]
        places = [i for i, other in enumerate(factor.axes) if other == axis][:2]
        kept = [i for i in range(len(factor.axes)) if i not in places]
        shape = shape_of(factor.value)
        size = min(shape[i] for i in places)
        b.require_size(size, "a diagonal")
        y = b.transpose(factor.value, [*kept, *places])
        y = b.reshape(y, (*(shape[i] for i in kept), prod(shape[i] for i in places)))
        diagonal = b.constant(np.arange(size, dtype=np.int64) * (shape[places[1]] + 1))
        y = b.op("take", y, diagonal, axis=len(kept), mode="clip")
        factor = Factor(y, (*(factor.axes[i] for i in kept), axis))
    return factor


def _summed(factor: Factor, axes: Sequence[Axis], b: Builder) -> Factor:
    """Sum over `axes`."""
    places = tuple(i for i, axis in enumerate(factor.axes) if axis in axes)
    if not places:
        return factor
    kept = tuple(axis for axis in factor.axes if axis not in axes)
    return Factor(b.op("sum", factor.value, axis=places), kept)


def _ordered(factor: Factor, groups: Sequence[Axes], b: Builder) -> Value:
    """Return the tensor with one dim for each group of axes."""
    order = [factor.axes.index(axis) for group in groups for axis in group]
    sizes = factor.sizes
    shape = [prod(sizes[axis] for axis in group) for group in groups]
    return b.reshape(b.transpose(factor.value, order), shape)


def _product(
    node: Node, left: Factor, right: Factor, wanted: frozenset[Axis], b: Builder
) -> Factor:
    """Multiply; sum over what both have in common and is not `wanted` any more."""
    for axis in {*left.axes} & {*right.axes}:
        one, other = left.sizes[axis], right.sizes[axis]
        if one != other and 1 not in (one, other):
            raise node.error(f'axis "{axis}" has sizes {one} and {other}')
        if one != other:  # the one broadcasts
            left, right = (
                _summed(f, [axis], b) if f.sizes[axis] == 1 else f for f in (left, right)
            )
    left = _summed(left, [a for a in left.axes if a not in wanted and a not in right.axes], b)
    right = _summed(right, [a for a in right.axes if a not in wanted and a not in left.axes], b)
    common = [axis for axis in left.axes if axis in right.axes]
    batch = tuple(axis for axis in common if axis in wanted)
    inner = tuple(axis for axis in common if axis not in wanted)
    rows = tuple(axis for axis in left.axes if axis not in common)
    columns = tuple(axis for axis in right.axes if axis not in common)
    x, y = _ordered(left, (batch, rows, inner), b), _ordered(right, (batch, columns, inner), b)
    z = b.op("nn.batch_matmul", x, y, transpose_b=True)
    sizes = {**left.sizes, **right.sizes}
    axes = (*batch, *rows, *columns)
    return Factor(b.reshape(z, [sizes[axis] for axis in axes]), axes)


def einsum(node: Node, b: Builder) -> Value:
    factors, wanted = _parsed(node, node.text("equation"), node.variadic())
    factors = [_without_repeats(factor, b) for factor in factors]
    done, *others = factors
    for i, factor in enumerate(others):
        later = {axis for other in others[i + 1 :] for axis in other.axes}
        done = _product(node, done, factor, frozenset({*wanted, *later}), b)
    done = _summed(done, [axis for axis in done.axes if axis not in wanted], b)
    return b.transpose(done.value, [done.axes.index(axis) for axis in wanted])


RULES: Rules = {"Einsum": since(12, einsum)}
