"""
The borders of images: what windows see above and below, and which steps compute rows there alike.

A turn of a loop of all stripes computes rows as between the borders, also those at the borders: its
windows do not pad, but see rows that are written over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.dense import constant_tensor
from ...dialects.relay import convolution, pooling, rearrange
from ...planning.stripes.network import Network
from ..analysis.arrays import array_of
from .rows import RowsRead
from .step_network import Axes, Group, sum_of_rows

TALLER = "it does not compute rows of a taller image as those of a lower one"


def padding_of(op: Operation, axis: int) -> float | None:
    """Return what `op` sees above and below an image; None if it sees nothing there."""
    if isinstance(op, rearrange.PadOp):
        number, widths = constant_tensor(op.pad_value), op.pad_width.get_values()
        if not any(widths[2 * axis : 2 * axis + 2]):
            return None
        array = None if number is None else array_of(number)
        return np.nan if array is None or op.pad_mode.data != "constant" else float(array)
    if not isinstance(op, convolution.Conv2dOp | pooling.MaxPool2dOp | pooling.AvgPool2dOp):
        return None
    layout = op.data_layout if isinstance(op, convolution.Conv2dOp) else op.layout
    side, *padding = "HW".find(layout.data[axis]), *op.padding.get_values()
    ceils = op.properties.get("ceil_mode")
    is_ceil = isinstance(ceils, IntegerAttr) and bool(ceils.value.data)
    if side < 0 or not (any(padding[side::2] or padding) or is_ceil):
        return None
    return -np.inf if isinstance(op, pooling.MaxPool2dOp) else 0.0


class Outside(NamedTuple):
    """A number that is written over rows of a tensor, those that `value` does not have."""

    number: float
    value: SSAValue
    above: int = 0
    """The number of rows that the tensor has above the first one of `value`."""


def seen_outside(group: Group, axes: Axes) -> Iterator[tuple[SSAValue, Outside]]:
    """
    Yield the values of which the ops of a step see rows outside, and what they see there.

    Of a value that the step computes and pads, it is what is padded in the result.
    """
    for op in group:
        if sum_of_rows(group, axes) is not None:
            yield op.operands[0], Outside(0.0, op.operands[0])  # rows outside add nothing
        elif op.results[0] in axes.of:
            axis = axes.of[op.results[0]]
            number, value = padding_of(op, axis), op.operands[0]
            while value.owner in group and isinstance(value.owner, rearrange.TransposeOp):
                value = value.owner.operands[0]
            if number is None:
                continue
            if isinstance(op, rearrange.PadOp) and op is group[-1] and value.owner in group:
                above = op.pad_width.get_values()[2 * axis]
                yield op.results[0], Outside(number, op.data, above)
            else:
                yield value, Outside(number, value)


def is_of_rows(op: Operation, read: RowsRead, axis: int) -> bool:
    """Test whether `op` computes rows of a taller image as it computes those of a lower one."""
    if isinstance(op, pooling.AvgPool2dOp):
        included = bool(op.count_include_pad.value.data)
        is_inside = padding_of(op, axis) is None
        return is_inside or (included and not op.ceil_mode.value.data)
    if isinstance(op, convolution.Conv2dOp | pooling.MaxPool2dOp):
        return True
    cuts = read.cuts
    reaches = [reach for _, reach in (each for each in read.operands if each is not None)]
    is_apart = all((of.first[cuts[:-1]] == of.end[cuts[:-1]]).all() for of in reaches)
    is_even = all((of.end[cuts] * read.rows == cuts * of.end[-1]).all() for of in reaches)
    return is_apart and (is_even or isinstance(op, rearrange.PadOp))


def note_borders(net: Network, groups: Sequence[Group], axes: Axes) -> None:
    """Note of each step why rows at the borders are not computed as those between."""
    padding = dict[SSAValue, float]()
    for step, group in zip(net.steps, groups, strict=True):
        inner = [result for op in group[:-1] for result in op.results]
        padded = [(value, outside.number) for value, outside in seen_outside(group, axes)]
        if any(v in inner or padding.get(v, x) != x for v, x in padded):
            step.apart = "windows see other padding than others of the same value"
        elif not step.reduces and not all(
            is_of_rows(op, read, axes.of[op.results[0]])
            for op in group
            if op.results and op.results[0] in axes.of and (read := axes.read(op))
        ):
            step.apart = TALLER
        else:
            padding |= padded
