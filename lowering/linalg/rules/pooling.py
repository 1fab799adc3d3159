"""
Rules of pooling.

One `linalg.generic` over the padded images and a tensor of the shape of a window, whose elements
are not read, with the loops of the result, then those of a window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, Signedness, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects import relay
from ....dialects.tensors import is_unsigned, signless
from ....dialects.type_rules import element_of as type_element
from ....operators.meaning.number import least
from ..builder import Builder, Rule, Size, element_of, element_type
from ..moving import mapped
from ..numbers import Scalar, number, number_of
from ..scalars import is_float
from ..sums import add, combining, sum_type
from ..window_maps import Side, cells_before, padded
from .reduce import count_of, fold, keep_axes, maxima, maximum

ui64 = IntegerType(64, Signedness.UNSIGNED)


def _sides(op: relay.pooling.Pool2d) -> tuple[Side, Side]:
    top, left, bottom, right = op.padding.get_values()
    cells, strides = op.pool_size.get_values(), op.strides.get_values()
    dilation, ceil = op.dilation.get_values(), op.ceil_mode.value.data != 0
    return (
        Side(cells[0], strides[0], dilation[0], top, bottom, ceil),
        Side(cells[1], strides[1], dilation[1], left, right, ceil),
    )


def _axes(layout: str) -> tuple[int, int]:
    return layout.index("H"), layout.index("W")


def pooled(
    b: Builder,
    op: relay.pooling.Pool2d,
    x: SSAValue,
    initial: float,
    type: Attribute,
    combine: Callable[[Scalar, Scalar], Scalar],
) -> SSAValue:
    """Combine the cells of each window, as numbers of `type`; `initial` is the padding."""
    sides, axes = _sides(op), _axes(op.layout.data)
    sizes = b.dims(x)
    counts = [side.count(b, sizes[axis]) for side, axis in zip(sides, axes, strict=True)]
    x = padded(b, x, axes, sides, counts, b.constant(initial, element_of(x)))
    rank = len(sizes)
    place = [AffineExpr.dimension(i) for i in range(rank)]
    for i, (side, axis) in enumerate(zip(sides, axes, strict=True)):
        sizes[axis] = counts[i]
        place[axis] = side.place(axis, rank + i)
    window = b.empty([side.cells for side in sides], signless(type))
    body = combining(lambda x, _, combined: combine(x, combined), type, element_type(op.data))
    reads, out = [place, (rank, rank + 1)], b.full(sizes, initial, signless(type))
    return b.nest([x, window], reads, [out], range(rank), body, rank + 2)[0]


def max_pool2d(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Take maxima; the padding is the least number."""
    assert isinstance(op, relay.pooling.MaxPool2dOp)
    type = element_type(op.data)
    return [pooled(b, op, operands[0], least(type_element(type)), type, maximum)]


def _inside(b: Builder, window: SSAValue, side: Side, low: Size, high: Size) -> Size:
    """Return how many cells of the window of this index are at `low` or more and below `high`."""
    places = b.sub(b.mul(window, side.stride), side.before), side.dilation, side.cells
    return b.sub(cells_before(b, high, *places), cells_before(b, low, *places))


def _sum_type(type: Attribute) -> Attribute:
    """Return the type in which a mean of elements of `type` is computed: integers in 64 bits."""
    return sum_type(type) if is_float(type) else ui64 if is_unsigned(type) else i64


def _mean(
    b: Builder, total: SSAValue, type: Attribute, count: Callable[[Builder], Scalar]
) -> SSAValue:
    """Divide `total`, a sum in the type of `_sum_type`, by `count` in the same; round to `type`."""

    def divide(x: Scalar) -> Scalar:
        divisor = count(x.b)
        if x.is_float:
            return x / divisor
        kind = arith.DivUIOp if is_unsigned(type) else arith.DivSIOp
        return number(x.b, x.b.insert(kind(x.value, divisor.value)))

    return mapped(b, total, type, divide)


def avg_pool2d(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Sum, then divide by the number of cells, which may differ where padding is."""
    assert isinstance(op, relay.pooling.AvgPool2dOp)
    (x,) = operands
    type = element_type(op.data)
    summed = _sum_type(type)
    total = pooled(b, op, x, 0, summed, add)
    sides, axes = _sides(op), _axes(op.layout.data)
    sizes = [b.dim(x, axis) for axis in axes]
    padding_counts = op.count_include_pad.value.data != 0

    def count(inner: Builder) -> Scalar:
        cells: Size = 1
        for side, axis, size in zip(sides, axes, sizes, strict=True):
            if side.is_inside(padding_counts):
                cells = inner.mul(cells, side.cells)
                continue
            low = -side.before if padding_counts else 0
            high = inner.add(size, side.after if padding_counts else 0)
            inside = _inside(inner, inner.loop_index(axis), side, low, high)
            cells = inner.mul(cells, inside)
        if not isinstance(cells, int):
            cells = inner.maximum(cells, 1)
        return number_of(inner, cells, summed)

    return [_mean(b, total, type, count)]


def global_max_pool2d(
    b: Builder, op: Operation, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Take maxima."""
    assert isinstance(op, relay.pooling.GlobalMaxPool2dOp)
    axes = _axes(op.layout.data)
    return [keep_axes(b, maxima(b, operands[0], axes, element_type(op.data)), axes)]


def global_avg_pool2d(
    b: Builder, op: Operation, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Sum, then divide."""
    assert isinstance(op, relay.pooling.GlobalAvgPool2dOp)
    (x,) = operands
    axes, type = _axes(op.layout.data), element_type(op.data)
    summed = _sum_type(type)
    total = fold(b, x, axes, 0, summed, add, source=type)
    cells = number_of(b, count_of(b, x, axes), summed)
    return [keep_axes(b, _mean(b, total, type, lambda _: cells), axes)]


RULES: Mapping[str, Rule] = {
    "relay.nn.avg_pool2d": avg_pool2d,
    "relay.nn.global_avg_pool2d": global_avg_pool2d,
    "relay.nn.global_max_pool2d": global_max_pool2d,
    "relay.nn.max_pool2d": max_pool2d,
}
