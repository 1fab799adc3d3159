"""
Rules of slices.

Of positive strides that are known a copied `tensor.extract_slice`, otherwise elements extracted at
`begin + i * stride`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from ....dialects import relay
from ....dialects.attributes import plain_attributes
from ....operators.slicing import cuts
from ..builder import Builder, Rule, Size, Unsupported, element_of
from ..moving import clamped, copied, element_size, gathered, rank_of
from ..scalars import compare, select
from ..traced_sizes import result_sizes

MOST_STRIDE = 1 << 60
"""A stride that no axis is as long as; sums with it do not overflow."""


def sliced(
    b: Builder, x: SSAValue, sizes: Sequence[Size], steps: Mapping[int, tuple[Size, Size]]
) -> SSAValue:
    """Take as many elements as `sizes`, of some axes from a first one on, at a stride."""
    offsets: list[Size] = [0] * len(sizes)
    strides: list[Size] = [1] * len(sizes)
    for axis, (begin, stride) in steps.items():
        bounded = b.maximum(b.minimum(stride, MOST_STRIDE), -MOST_STRIDE)
        offsets[axis], strides[axis] = _first(b, b.dim(x, axis), begin, bounded), bounded
    if all(isinstance(stride, int) and stride > 0 for stride in strides):
        return copied(b, b.extract_slice(x, offsets, sizes, strides))

    def find(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        indices = list[Size](at)
        for axis in steps:
            place = inner.add(offsets[axis], inner.mul(at[axis], strides[axis]))
            indices[axis] = clamped(inner, place, inner.dim(x, axis))
        return inner.extract(x, indices)

    return gathered(b, sizes, element_of(x), find)


def _first(b: Builder, dim: Size, begin: Size, stride: Size) -> Size:
    """Return the index of the first element of a slice, as NumPy clamps it."""
    back = _is_negative(b, stride)
    place = _chosen(b, _is_negative(b, begin), b.add(begin, dim), begin)
    last = _chosen(b, back, b.sub(dim, 1), dim)
    return b.maximum(b.minimum(place, last), _chosen(b, back, -1, 0))


def _is_negative(b: Builder, number: Size) -> SSAValue | bool:
    return number < 0 if isinstance(number, int) else compare(b, "slt", number, b.index(0))


def _chosen(b: Builder, condition: SSAValue | bool, yes: Size, no: Size) -> Size:
    if isinstance(condition, bool):
        return yes if condition else no
    return select(b, condition, b.index(yes), b.index(no))


def strided_slice(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Find the first index along each axis."""
    (x,), attributes = operands, dict[str, Any](plain_attributes(op))
    steps = {axis: (begin, step) for axis, begin, _, step, _ in cuts(rank_of(x), **attributes)}
    return [sliced(b, x, result_sizes(b, op, operands)[0], steps)]


def dyn_strided_slice(
    b: Builder, op: Operation, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Read the indices from elements."""
    assert isinstance(op, relay.dynamic.DynStridedSliceOp)
    x, begins, _, strides = operands
    (count,) = b.dims(begins)
    if not isinstance(count, int):
        raise Unsupported("an unknown number of indices")
    axes = range(count) if op.axes is None else [a % rank_of(x) for a in op.axes.get_values()]
    by_size = op.slice_mode.data == "size"
    steps = {
        axis: (element_size(b, begins, [i]), 1 if by_size else element_size(b, strides, [i]))
        for i, axis in enumerate(axes)
    }
    return [sliced(b, x, result_sizes(b, op, operands)[0], steps)]


RULES: Mapping[str, Rule] = {
    "relay.dyn.strided_slice": dyn_strided_slice,
    "relay.strided_slice": strided_slice,
}
