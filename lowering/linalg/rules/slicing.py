"""
Rules of slices.

Of positive strides that are known a copied `tensor.extract_slice`, otherwise elements extracted at
`begin + i * stride`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ....dialects import relay
from ....dialects.attributes import plain_attributes
from ....operators.slicing import cuts, picked
from ..builder import Builder, Rule, Size, Unsupported, element_of
from ..moving import copied, element_size, gathered, rank_of
from ..scalars import compare, select


@dataclass(frozen=True)
class Picked:
    """The indices along an axis: `length` of them from `begin`, which is within the axis."""

    begin: Size
    length: Size
    stride: Size


def sliced(b: Builder, x: SSAValue, axes: Mapping[int, Picked]) -> SSAValue:
    """Take what `axes` say; all of other axes."""
    sizes = b.dims(x)
    offsets: list[Size] = [0] * len(sizes)
    strides: list[Size] = [1] * len(sizes)
    for axis, chosen in axes.items():
        offsets[axis], sizes[axis], strides[axis] = chosen.begin, chosen.length, chosen.stride
    if all(isinstance(stride, int) and stride > 0 for stride in strides):
        return copied(b, b.extract_slice(x, offsets, sizes, strides))

    def find(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        indices = list[Size](at)
        for axis in axes:
            place = inner.add(offsets[axis], inner.mul(at[axis], strides[axis]))
            last = inner.sub(inner.dim(x, axis), 1)
            indices[axis] = inner.maximum(inner.minimum(place, last), 0)
        return inner.extract(x, indices)

    return gathered(b, sizes, element_of(x), find)


def strided_slice(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Find the first index and the number of indices along each axis."""
    assert isinstance(op, relay.rearrange.StridedSliceOp)
    (x,) = operands
    attributes = dict[str, Any](plain_attributes(op))
    chosen = {
        axis: _picked(b, b.dim(x, axis), begin, end, stride, by_size)
        for axis, begin, end, stride, by_size in cuts(rank_of(x), **attributes)
    }
    return [sliced(b, x, chosen)]


def _picked(b: Builder, dim: Size, begin: Size, end: Size, stride: Size, by_size: bool) -> Picked:
    """Return the indices of `operators.slicing.picked`, for numbers that may be values."""
    if (
        isinstance(dim, int)
        and isinstance(begin, int)
        and isinstance(end, int)
        and isinstance(stride, int)
    ):
        indices = picked(dim, begin, end, stride, by_size)
        return Picked(indices.start if indices else 0, len(indices), indices.step)

    def clamped(place: Size, low: Size, high: Size) -> Size:
        place = _chosen(b, _is_negative(b, place), b.add(place, dim), place)
        return b.maximum(b.minimum(place, high), low)

    if by_size:
        begin = clamped(begin, 0, dim)
        rest = b.sub(dim, begin)
        wanted = _chosen(b, _is_negative(b, end), rest, end)
        return Picked(begin, b.minimum(wanted, rest), 1)
    if isinstance(stride, int):
        stride = max(min(stride, MOST_STRIDE), -MOST_STRIDE)
    else:
        stride = b.maximum(b.minimum(stride, MOST_STRIDE), -MOST_STRIDE)
    back = _is_negative(b, stride)
    low, high = _chosen(b, back, -1, 0), _chosen(b, back, b.sub(dim, 1), dim)
    begin, end = clamped(begin, low, high), clamped(end, low, high)
    span = _chosen(b, back, b.sub(begin, end), b.sub(end, begin))
    step = b.maximum(b.maximum(stride, b.sub(0, stride)), 1)
    rounds = b.index(b.maximum(b.sub(b.add(span, step), 1), 0))
    return Picked(begin, b.insert(arith.DivUIOp(rounds, b.index(step))), stride)


MOST_STRIDE = 1 << 60
"""A stride that no axis is as long as; sums with it do not overflow."""


def _is_negative(b: Builder, number: Size) -> SSAValue | bool:
    return number < 0 if isinstance(number, int) else compare(b, "slt", number, b.index(0))


def _chosen(b: Builder, condition: SSAValue | bool, yes: Size, no: Size) -> Size:
    if isinstance(condition, bool):
        return yes if condition else no
    return select(b, condition, b.index(yes), b.index(no))


def dyn_strided_slice(
    b: Builder, op: Operation, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Compute the indices from elements."""
    assert isinstance(op, relay.dynamic.DynStridedSliceOp)
    x, *given = operands
    rank, (count,) = rank_of(x), b.dims(operands[1])
    if not isinstance(count, int):
        raise Unsupported("an unknown number of indices")
    axes = range(count) if op.axes is None else [a % rank for a in op.axes.get_values()]
    by_size = op.slice_mode.data == "size"
    chosen: dict[int, Picked] = {}
    for i, axis in enumerate(axes):
        begin, end, stride = (element_size(b, numbers, [i]) for numbers in given)
        chosen[axis] = _picked(b, b.dim(x, axis), begin, end, stride, by_size)
    return [sliced(b, x, chosen)]


RULES: Mapping[str, Rule] = {
    "relay.dyn.strided_slice": dyn_strided_slice,
    "relay.strided_slice": strided_slice,
}
