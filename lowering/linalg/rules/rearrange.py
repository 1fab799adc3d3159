"""
Rules of operators that move elements to places that do not depend on the elements.

Copies whose operand, indexing map or slice says where from or where to; see `moving`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects import relay
from ....dialects.attributes import plain_attributes
from ..builder import Builder, Rule, Size, element_of
from ..moving import clamped, copied, element_size, gathered, placed, rank_of
from .reduce import keep_axes

# -------------------------------------------------------------------- joining


def joined(b: Builder, values: Sequence[SSAValue], axis: int) -> SSAValue:
    """Join `values` along `axis`."""
    sizes = b.dims(values[0])
    sizes[axis] = 0
    for value in values:
        for i, size in enumerate(b.dims(value)):
            if i == axis:
                sizes[i] = b.add(sizes[i], size)
            elif isinstance(size, int):
                sizes[i] = size
    result = b.empty(sizes, element_of(values[0]))
    offsets: list[Size] = [0] * len(sizes)
    for value in values:
        result = placed(b, value, result, offsets)
        offsets[axis] = b.add(offsets[axis], b.dim(value, axis))
    return result


def concatenate(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Copy each operand to its place."""
    assert isinstance(op, relay.rearrange.ConcatenateOp)
    return [joined(b, operands, op.axis.value.data % rank_of(operands[0]))]


def stack(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Copy each operand, with a dim of 1 at the new axis, to its place."""
    assert isinstance(op, relay.rearrange.StackOp)
    axis = op.axis.value.data % (rank_of(operands[0]) + 1)
    return [joined(b, [keep_axes(b, value, [axis]) for value in operands], axis)]


# -------------------------------------------------------------------- slices


def split(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Copy slices."""
    assert isinstance(op, relay.rearrange.SplitOp)
    (x,) = operands
    axis = op.axis.value.data % rank_of(x)
    dim = b.dim(x, axis)
    where = plain_attributes(op)["indices_or_sections"]
    if isinstance(where, int):
        part = b.floordiv(dim, where)
        begins = [b.mul(part, i) for i in range(where)]
        lengths = [part] * where
    else:
        assert isinstance(where, tuple)
        begins = [b.minimum(place, dim) for place in (0, *where)]
        ends = [*begins[1:], dim]
        lengths = [b.maximum(b.sub(e, s), 0) for s, e in zip(begins, ends, strict=True)]
    results: list[SSAValue] = []
    for begin, length in zip(begins, lengths, strict=True):
        offsets: list[Size] = [0] * rank_of(x)
        sizes = b.dims(x)
        offsets[axis], sizes[axis] = begin, length
        results.append(copied(b, b.extract_slice(x, offsets, sizes)))
    return results


# -------------------------------------------------------------------- padding


def padded(
    b: Builder, x: SSAValue, number: SSAValue, mode: str, low: Sequence[Size], high: Sequence[Size]
) -> SSAValue:
    """Put `low` and `high` elements around `x`; `number` is the scalar tensor for "constant"."""
    dims = b.dims(x)
    sizes = [b.add(b.add(d, x), y) for d, x, y in zip(dims, low, high, strict=True)]
    if mode == "constant":
        full = b.fill(b.extract(number, []), b.empty(sizes, element_of(x)))
        return placed(b, x, full, low)

    def find(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        indices: list[Size] = []
        for i, before, after, dim in zip(at, low, high, dims, strict=True):
            if before == 0 and after == 0:
                indices.append(i)
                continue
            place = inner.sub(i, before)
            if mode == "reflect":
                place = inner.maximum(place, inner.sub(0, place))
                twice = inner.mul(inner.sub(dim, 1), 2)
                place = inner.minimum(place, inner.sub(twice, place))
            indices.append(clamped(inner, place, dim))
        return inner.extract(x, indices)

    return gathered(b, sizes, element_of(x), find)


def pad(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Fill and copy, or extract at the indices that the mode mirrors."""
    assert isinstance(op, relay.rearrange.PadOp)
    x, number = operands
    widths = op.pad_width.get_values()
    return [padded(b, x, number, op.pad_mode.data, widths[::2], widths[1::2])]


def dyn_pad(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Pad as `pad`, by widths that are elements."""
    assert isinstance(op, relay.dynamic.DynPadOp)
    x, widths, number = operands
    before, after = (
        [element_size(b, widths, [axis, side]) for axis in range(rank_of(x))] for side in (0, 1)
    )
    return [padded(b, x, number, op.pad_mode.data, before, after)]


RULES: Mapping[str, Rule] = {
    "relay.concatenate": concatenate,
    "relay.dyn.nn.pad": dyn_pad,
    "relay.nn.pad": pad,
    "relay.split": split,
    "relay.stack": stack,
}
