"""
Rules of operators whose result has the elements of the operand in the same order.

    (2, 3, 4) -> (6, 4)       tensor.collapse_shape
    (6, 4)    -> (2, 3, 4)    tensor.expand_shape
    (5, 2, 3) -> (5, 3, 2)    both: the axes that differ are made one, and that is split
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from ....dialects import relay
from ..builder import Builder, Rule, Size, element_of, tensor_of
from ..moving import element_size, gathered, rank_of
from ..scalars import compare, select
from ..traced_sizes import result_sizes
from .reduce import count_of


class Part(NamedTuple):
    """Adjacent axes of the operand, and those of the result with the same elements."""

    before: list[int]
    after: list[int]


def parts(before: Sequence[Size], after: Sequence[Size]) -> list[Part]:
    """
    Divide the axes of two shapes, of the same number of elements and with axes, into parts.

    Axes between the common ones at the start and at the end are one part if a dim of them is not
    known.
    """
    rank = min(len(before), len(after))
    start = 0
    while start < rank and _equal(before[start], after[start]):
        start += 1
    end = 0
    while end < rank - start and _equal(before[-1 - end], after[-1 - end]):
        end += 1
    middle = _middle(
        before, after, [*range(start, len(before) - end)], [*range(start, len(after) - end)]
    )
    parts = [Part([axis], [axis]) for axis in range(start)]
    parts += middle
    parts += [Part([len(before) - i], [len(after) - i]) for i in range(end, 0, -1)]
    return _joined(parts)


def _equal(one: Size, other: Size) -> bool:
    return one is other or (isinstance(one, int) and isinstance(other, int) and one == other)


def _middle(
    before: Sequence[Size], after: Sequence[Size], ins: list[int], outs: list[int]
) -> list[Part]:
    """Divide the axes `ins` and `outs`; a part may have none of one of them."""
    parts: list[Part] = []
    while ins and outs:
        part, sizes = Part([], []), [1, 1]
        while not (part.before and part.after and sizes[0] == sizes[1]):
            side = int(bool(part.before) and (not part.after or sizes[1] < sizes[0]))
            axis = (ins, outs)[side].pop(0)
            size = (before, after)[side][axis]
            part[side].append(axis)
            if not isinstance(size, int):
                return [*parts, Part([*part.before, *ins], [*part.after, *outs])]
            sizes[side] *= size
        parts.append(part)
    return [*parts, Part(ins, outs)] if ins or outs else parts


def _joined(found: Sequence[Part]) -> list[Part]:
    """Join parts that have axes on one side only, dims of 1, with those beside them."""
    joined: list[Part] = []
    for part in found:
        if joined and not (all(part) and all(joined[-1])):
            joined[-1].before.extend(part.before)
            joined[-1].after.extend(part.after)
        else:
            joined.append(part)
    return joined


def reshaped(b: Builder, value: SSAValue, sizes: Sequence[Size]) -> SSAValue:
    """Return `value` with dims of `sizes`, which have the same product."""
    dims = b.dims(value)
    if 0 in dims or 0 in sizes:
        return b.empty(sizes, element_of(value))
    if not dims or not sizes:
        return b.expand(b.collapse(value, []) if dims else value, [], sizes)
    divided = parts(dims, sizes)
    value = b.collapse(value, [part.before for part in divided])
    groups = [part.after for part in divided]
    if any(_dynamic(sizes, group) > 1 for group in groups):
        return _extracted(b, value, groups, sizes)
    return b.expand(value, groups, sizes)


def _dynamic(sizes: Sequence[Size], axes: Sequence[int]) -> int:
    return sum(not isinstance(sizes[axis], int) for axis in axes)


def _extracted(
    b: Builder, value: SSAValue, groups: Sequence[Sequence[int]], sizes: Sequence[Size]
) -> SSAValue:
    """Expand by a copy, as mlir-opt cannot expand an axis to several whose dims are not known."""

    def find(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        indices: list[Size] = []
        for group in groups:
            index: Size = 0
            for axis in group:
                index = inner.add(inner.mul(index, sizes[axis]), at[axis])
            indices.append(index)
        return inner.extract(value, indices)

    return gathered(b, sizes, element_of(value), find)


def reshape(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Collapse and expand axes."""
    return [reshaped(b, operands[0], result_sizes(b, op, operands)[0])]


def _is(b: Builder, one: Size, other: Size) -> SSAValue:
    return compare(b, "eq", b.index(one), b.index(other))


def _chosen(b: Builder, condition: SSAValue, yes: Size, no: Size) -> Size:
    return select(b, condition, b.index(yes), b.index(no))


def _known(op: Operation, computed: Sequence[Size]) -> list[Size]:
    """Return the dims of the result of `op`: those of its type, or else `computed`."""
    shape = tensor_of(op.results[0]).get_shape()
    return [c if d == DYNAMIC_INDEX else d for d, c in zip(shape, computed, strict=True)]


def dyn_reshape(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Replace 0 by the dim there, and -1 by what remains."""
    assert isinstance(op, relay.dynamic.DynReshapeOp)
    data, shape = operands
    dims, rank = b.dims(data), rank_of(op.results[0])
    sizes: list[Size] = [element_size(b, shape, [axis]) for axis in range(rank)]
    if not op.allowzero.value.data:
        for axis, dim in enumerate(dims[:rank]):
            sizes[axis] = _chosen(b, _is(b, sizes[axis], 0), dim, sizes[axis])
    inferred = [_is(b, size, -1) for size in sizes]
    others: Size = 1
    for size, is_inferred in zip(sizes, inferred, strict=True):
        others = b.mul(others, _chosen(b, is_inferred, 1, size))
    total, divisor = b.index(count_of(b, data, range(len(dims)))), b.index(b.maximum(others, 1))
    rest = b.insert(arith.DivUIOp(total, divisor))
    resolved = [_chosen(b, i, rest, size) for i, size in zip(inferred, sizes, strict=True)]
    return [reshaped(b, data, _known(op, resolved))]


def dyn_expand_dims(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Choose each dim: one of the operand before the new ones, 1, or one after them."""
    assert isinstance(op, relay.dynamic.DynExpandDimsOp)
    data, axis = operands
    dims, new = b.dims(data), op.num_newaxis.value.data
    first = element_size(b, axis, [])
    negative = compare(b, "slt", b.index(first), b.index(0))
    first = b.index(_chosen(b, negative, b.add(first, len(dims) + 1), first))
    shape: list[Size] = []
    for i in range(len(dims) + new):
        after: Size = dims[i - new] if i >= new else 1
        is_new = compare(b, "slt", b.index(i), b.index(b.add(first, new)))
        size = _chosen(b, is_new, 1, after)
        if i < len(dims):
            size = _chosen(b, compare(b, "slt", b.index(i), first), dims[i], size)
        shape.append(size)
    return [reshaped(b, data, _known(op, shape))]


def dyn_squeeze(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Number the dims that remain, and choose each by its number."""
    data, axes = operands
    dims, (count,) = b.dims(data), b.dims(axes)
    assert isinstance(count, int), "the rank of the result is known"
    removed: list[Size] = []
    for i in range(count):
        axis = element_size(b, axes, [i])
        negative = compare(b, "slt", b.index(axis), b.index(0))
        removed.append(_chosen(b, negative, b.add(axis, len(dims)), axis))
    kept: list[Size] = [1] * (len(dims) - count)
    number: Size = 0
    for i, dim in enumerate(dims):
        place: Size = number
        for axis in removed:
            place = _chosen(b, _is(b, axis, i), -1, place)
        kept = [_chosen(b, _is(b, place, j), dim, size) for j, size in enumerate(kept)]
        number = b.add(number, _chosen(b, _is(b, place, -1), 0, 1))
    return [reshaped(b, data, _known(op, kept))]


RULES: Mapping[str, Rule] = {
    "relay.dyn.expand_dims": dyn_expand_dims,
    "relay.dyn.reshape": dyn_reshape,
    "relay.dyn.squeeze": dyn_squeeze,
}
