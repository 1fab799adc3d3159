"""
Rules of operators whose result has the elements of the operand in the same order.

    (2, 3, 4) -> (6, 4)       tensor.collapse_shape
    (6, 4)    -> (2, 3, 4)    tensor.expand_shape
    (5, 2, 3) -> (5, 3, 2)    both: the axes that differ are made one, and that is split
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ..builder import Builder, Size, element_of
from ..moving import gathered
from ..traced_sizes import result_sizes


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
