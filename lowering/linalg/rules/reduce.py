"""
Rules of reductions.

One `linalg.generic` whose loops are those of the operand, in order; axes that are kept as dims of 1
are inserted after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects import relay
from ....dialects.tensors import is_unsigned, signless
from ....operators.reduce import reduced_axes
from ..builder import Builder, Rule, Size, element_of, element_type
from ..moving import mapped, rank_of
from ..scalars import (
    compare,
    convert,
    is_float,
    is_nan,
    maximum,
    minimum,
    narrowed,
    resized,
    select,
    widened,
    width,
)
from ..sums import REASSOC, add, multiply, rounded, sum_type

Combine: TypeAlias = Callable[[Builder, Sequence[SSAValue], SSAValue], SSAValue]
"""Combines elements with the result so far."""


def fold(
    b: Builder,
    value: SSAValue,
    axes: Sequence[int],
    initial: float,
    type: Attribute,
    combine: Combine,
    beside: Sequence[SSAValue] = (),
) -> SSAValue:
    """
    Combine the elements of `value` along `axes`, which the result, of element type `type`, lacks.

    `beside` are tensors of the shape of the result, whose elements `combine` gets too.
    """
    every = range(rank_of(value))
    kept = [axis for axis in every if axis not in axes]
    out = b.full([b.dim(value, axis) for axis in kept], initial, type)

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [combine(inner, elements[:-1], elements[-1])]

    reads = [every, *[kept] * len(beside)]
    return b.nest([value, *beside], reads, [out], kept, body, len(every))[0]


def keep_axes(b: Builder, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Insert dims of 1 into `value`, so that they are at `axes`."""
    dims = b.dims(value)
    sizes: list[Size] = []
    groups: list[list[int]] = []
    leading: list[int] = []
    for axis in range(len(dims) + len(axes)):
        if axis not in axes:
            groups.append([*leading, axis])
            leading = []
            sizes.append(dims[len(groups) - 1])
            continue
        sizes.append(1)
        (groups[-1] if groups else leading).append(axis)
    return b.expand(value, groups, sizes)


def number_of(b: Builder, size: Size, type: Attribute) -> SSAValue:
    """Return `size` as a number of `type`."""
    if isinstance(size, int):
        return b.constant(size, type)
    integer = b.insert(arith.IndexCastOp(size, i64))
    return convert(b, integer, i64, type)


def count_of(b: Builder, value: SSAValue, axes: Sequence[int]) -> Size:
    """Return the number of elements of `value` along `axes`."""
    count: Size = 1
    for axis in axes:
        count = b.mul(count, b.dim(value, axis))
    return count


def least(type: Attribute) -> float:
    """Return the least number of an element type, which may be unsigned; i1 is."""
    if is_float(type):
        return -inf
    return 0 if is_unsigned(type) else -(2 ** (width(type) - 1))


def most(type: Attribute) -> float:
    """Return the greatest number of an element type."""
    if is_float(type):
        return inf
    return 2 ** width(type) - 1 if is_unsigned(type) else 2 ** (width(type) - 1) - 1


def maxima(b: Builder, value: SSAValue, axes: Sequence[int], type: Attribute) -> SSAValue:
    """Take the maxima of `value`, of element type `type`, along `axes`."""

    def combine(inner: Builder, elements: Sequence[SSAValue], found: SSAValue) -> SSAValue:
        return maximum(inner, elements[0], found, type)

    return fold(b, value, axes, least(type), signless(type), combine)


def sums(b: Builder, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """
    Sum `value` along `axes`, in the type of `sum_type`.

    f32 along several axes is summed in f64: images are long, and each channel has one accumulator
    where channels are last. The mean of 24 x 160 pixels was off by 3e-6.
    """
    type = sum_type(element_of(value))
    if type == f32 and len(axes) > 1:
        type = f64

    def combine(inner: Builder, elements: Sequence[SSAValue], total: SSAValue) -> SSAValue:
        x = summand(inner, elements[0])
        return add(inner, convert(inner, x, x.type, type), total, REASSOC)

    return fold(b, value, axes, 0, type, combine)


def summand(b: Builder, x: SSAValue) -> SSAValue:
    """Return `x` in the type in which it is summed."""
    return widened(b, x) if is_float(x.type) else x


def _axes(op: relay.reduce.Reduction) -> tuple[int, ...]:
    axis = None if op.axis is None else op.axis.get_values()
    return reduced_axes(axis, op.exclude.value.data != 0, rank_of(op.data))


def reduction(reduce: Callable[[Builder, SSAValue, Sequence[int], Attribute], SSAValue]) -> Rule:
    """Return the rule of a reduction of a tensor, of an element type, along axes."""

    def rule(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        assert isinstance(op, relay.reduce.Reduction)
        axes = _axes(op)
        type = element_type(op.data)
        found = rounded(b, reduce(b, operands[0], axes, type), element_of(operands[0]))
        return [keep_axes(b, found, axes) if op.keepdims.value.data else found]

    return rule


def _sum(b: Builder, value: SSAValue, axes: Sequence[int], type: Attribute) -> SSAValue:
    return sums(b, value, axes)


def _product(b: Builder, value: SSAValue, axes: Sequence[int], type: Attribute) -> SSAValue:
    def combine(inner: Builder, elements: Sequence[SSAValue], total: SSAValue) -> SSAValue:
        return multiply(inner, summand(inner, elements[0]), total, REASSOC)

    return fold(b, value, axes, 1, sum_type(element_of(value)), combine)


def _min(b: Builder, value: SSAValue, axes: Sequence[int], type: Attribute) -> SSAValue:
    def combine(inner: Builder, elements: Sequence[SSAValue], found: SSAValue) -> SSAValue:
        return minimum(inner, elements[0], found, type)

    return fold(b, value, axes, most(type), signless(type), combine)


def _mean(b: Builder, value: SSAValue, axes: Sequence[int], type: Attribute) -> SSAValue:
    return divided(b, sums(b, value, axes), count_of(b, value, axes), element_of(value))


def divided(b: Builder, value: SSAValue, count: Size, type: Attribute) -> SSAValue:
    """Divide the float tensor `value` by `count`, and round to `type`."""
    divisor = number_of(b, count, element_of(value))

    def divide(inner: Builder, x: Sequence[SSAValue]) -> SSAValue:
        return narrowed(inner, inner.insert(arith.DivfOp(x[0], divisor)), type)

    return mapped(b, [value], type, divide)


def position(greatest: bool) -> Rule:
    """
    Return the rule of argmax, or argmin.

    Of equal elements (and of NaNs, which are better than any number) the index decides, so that
    the order of the loops does not.
    """

    def rule(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        assert isinstance(op, relay.reduce.ArgReduction)
        (value,) = operands
        axes, last = _axes(op), op.select_last_index.value.data != 0
        type = element_type(op.data)
        every = range(rank_of(value))
        kept = [axis for axis in every if axis not in axes]
        sizes = [b.dim(value, axis) for axis in kept]
        dims = b.dims(value)

        def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
            x, best, found = elements
            place: Size = 0
            for axis in axes:
                place = inner.add(inner.mul(place, dims[axis]), inner.loop_index(axis))
            at = inner.insert(arith.IndexCastOp(inner.index(place), i64))
            wins, ties = _compared(inner, x, best, type, greatest)
            nearer = compare(inner, "sgt" if last else "slt", at, found)
            wins = inner.insert(arith.OrIOp(wins, inner.insert(arith.AndIOp(ties, nearer))))
            return [select(inner, wins, x, best), select(inner, wins, at, found)]

        worst = least(type) if greatest else most(type)
        outs = [b.full(sizes, worst, signless(type)), b.full(sizes, -1 if last else 2**63 - 1, i64)]
        _, found = b.nest([value], [every], outs, kept, body, len(every))
        index = signless(element_type(op.result))
        result = found
        if index != i64:
            result = mapped(
                b, [found], index, lambda inner, x: resized(inner, x[0], index, unsigned=False)
            )
        return [keep_axes(b, result, axes) if op.keepdims.value.data else result]

    return rule


def _compared(
    b: Builder, x: SSAValue, best: SSAValue, type: Attribute, greatest: bool
) -> tuple[SSAValue, SSAValue]:
    """Return whether `x` is better than `best`, and whether it is as good."""
    if not is_float(type):
        sign = "u" if is_unsigned(type) else "s"
        return compare(b, f"{sign}{'gt' if greatest else 'lt'}", x, best), compare(b, "eq", x, best)
    unordered, hopeless = is_nan(b, x), is_nan(b, best)
    wins = compare(b, "ogt" if greatest else "olt", x, best)
    first_nan = b.insert(arith.AndIOp(unordered, compare(b, "oeq", best, best)))
    ties = compare(b, "oeq", x, best)
    both = b.insert(arith.AndIOp(unordered, hopeless))
    return b.insert(arith.OrIOp(wins, first_nan)), b.insert(arith.OrIOp(ties, both))


RULES: Mapping[str, Rule] = {
    "relay.all": reduction(_min),
    "relay.any": reduction(maxima),
    "relay.argmax": position(greatest=True),
    "relay.argmin": position(greatest=False),
    "relay.max": reduction(maxima),
    "relay.mean": reduction(_mean),
    "relay.min": reduction(_min),
    "relay.prod": reduction(_product),
    "relay.sum": reduction(_sum),
}
