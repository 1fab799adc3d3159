"""
Split padding into a separate `nn.pad`, whose result is planned with all other tensors.

    %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}
      ->
    %p = relay.nn.pad %x, %zero {pad_width = array<i64: 0, 0, 1, 1, 1, 1, 0, 0>}
    %y = relay.nn.conv2d %p, %w

Loops over padded images need no conditions, but need a copy. Inside a kernel, the copy would be
outside the memory plan, and live together with the image and the result. As a tensor of its own it
shares bytes with others, and the image is often dead by then. Operators with the same padding share
the copy, which ends where the last window does.

Convolutions, maximum pools (padded with the least number) and average pools are rewritten; averages
are scaled where padding does not count. Operators whose padding makes a small image large stay.
After `propagate-layout`; before fusion, which lets elementwise operators write into the padded
copy. Level: `relay`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, Float32Type, Float64Type, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects.relay import convolution, pooling
from ..dialects.relay.properties import ints
from ..dialects.tensors import as_tensor
from .analysis.arrays import Array, numpy_dtype
from .support.changes import LevelPass
from .support.operator_steps import OperatorSteps, dtype_of
from .support.rewriting import apply_patterns

MOST_PADDED = 1 << 22
"""Limit on the elements of a padded tensor that has more than `MOST_GROWTH` times as many."""
MOST_GROWTH = 16


@dataclass(frozen=True)
class Windows:
    """The windows along height and width of images in `layout`."""

    layout: str
    cells: Sequence[int]
    strides: Sequence[int]
    dilation: Sequence[int]
    padding: Sequence[int]
    """Top, left, bottom, right."""
    ceil: bool = False

    @property
    def axes(self) -> tuple[int, int]:
        return self.layout.index("H"), self.layout.index("W")

    def widths(self, shape: Sequence[int]) -> list[int] | None:
        """
        Return the padding before and after each axis of images of `shape` (-1: unknown).

        None if an unknown size determines it.
        """
        widths = [0] * (2 * len(shape))
        for side, axis in enumerate(self.axes):
            size, before, after = shape[axis], self.padding[side], self.padding[side + 2]
            if size >= 0:
                after = self._reached(side, size)
            elif self.ceil:
                return None
            widths[2 * axis : 2 * axis + 2] = [before, after]
        return widths

    def _reached(self, side: int, size: int) -> int:
        """Return how many cells after an image of `size` cells are in a window."""
        before, after, stride = self.padding[side], self.padding[side + 2], self.strides[side]
        reach = (self.cells[side] - 1) * self.dilation[side] + 1
        rest = before + size + after - reach
        steps = -(-rest // stride) if self.ceil else rest // stride
        return max(0, steps * stride + reach - before - size)


def small_enough(shape: Sequence[int], widths: Sequence[int]) -> bool:
    """Test whether images of `shape` do not become too large by padding."""
    padded = prod(s + sum(widths[2 * i : 2 * i + 2]) for i, s in enumerate(shape) if s >= 0)
    return padded <= max(MOST_PADDED, MOST_GROWTH * prod(s for s in shape if s >= 0))


def windows_of_pool(op: pooling.Pool2d) -> Windows:
    return Windows(
        op.layout.data,
        op.pool_size.get_values(),
        op.strides.get_values(),
        op.dilation.get_values(),
        op.padding.get_values(),
        op.ceil_mode.value.data != 0,
    )


@dataclass
class Padded:
    """The padded images: one for each image, padding and block."""

    made: dict[tuple[object, ...], SSAValue] = field(default_factory=lambda: {})

    def of(
        self, op: Operation, windows: Windows, number: float, rewriter: PatternRewriter
    ) -> SSAValue | None:
        """Return operand 0 of `op`, padded with `number` as `windows` need; None if not needed."""
        value, block = op.operands[0], op.parent
        type = as_tensor(value.type)
        dtype = None if type is None else numpy_dtype(type)
        if type is None or dtype is None or not (any(windows.padding) or windows.ceil):
            return None
        widths = windows.widths(type.get_shape())
        if widths is None or not any(widths) or not small_enough(type.get_shape(), widths):
            return None
        if dtype.kind in "iu" and number < 0:
            number = int(np.iinfo(dtype).min)
        key = (value, block, number, *widths)
        if key not in self.made:
            steps = OperatorSteps()
            scalar = steps.numbers(number, dtype_of(value))
            self.made[key] = pad = steps.apply("nn.pad", value, scalar, pad_width=widths)
            pad.name_hint = value.name_hint
            rewriter.insert(steps.ops, InsertPoint.before(op))
        return self.made[key]


UNPADDED = ints((0, 0, 0, 0))


@dataclass(frozen=True)
class PadConvolution(RewritePattern):
    """Pad the images of a convolution with zeros beforehand."""

    padded: Padded

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: convolution.Conv2dOp, rewriter: PatternRewriter, /) -> None:
        weight = as_tensor(op.weight.type)
        if weight is None or weight.get_num_dims() != len(op.kernel_layout.data):
            return
        axes = [op.kernel_layout.data.index(side) for side in "HW"]
        windows = Windows(
            op.data_layout.data,
            [weight.get_shape()[axis] for axis in axes],
            op.strides.get_values(),
            op.dilation.get_values(),
            op.padding.get_values(),
        )
        data = None if min(windows.cells) < 1 else self.padded.of(op, windows, 0, rewriter)
        if data is not None:
            properties = {**op.properties, "padding": UNPADDED}
            rewriter.replace(op, convolution.Conv2dOp.on([data, op.weight], properties))


def unpadded(op: pooling.Pool2d, data: SSAValue) -> pooling.Pool2d:
    """Return `op` on images that are padded already."""
    ceil = BoolAttr.from_bool(False)
    return type(op).on([data], {**op.properties, "padding": UNPADDED, "ceil_mode": ceil})


@dataclass(frozen=True)
class PadMaxPool(RewritePattern):
    """Pad the images of a maximum pool with the least number beforehand."""

    padded: Padded

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: pooling.MaxPool2dOp, rewriter: PatternRewriter, /) -> None:
        data = self.padded.of(op, windows_of_pool(op), -np.inf, rewriter)
        if data is not None:
            rewriter.replace(op, unpadded(op, data))


@dataclass(frozen=True)
class PadAveragePool(RewritePattern):
    """Pad the images of an average pool with zeros; scale the averages where zeros do not count."""

    padded: Padded

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: pooling.AvgPool2dOp, rewriter: PatternRewriter, /) -> None:
        windows = windows_of_pool(op)
        padding_counts = not windows.ceil and op.count_include_pad.value.data
        scales = [] if padding_counts else shares(op, windows)
        if scales is None or (data := self.padded.of(op, windows, 0, rewriter)) is None:
            return
        steps = OperatorSteps()
        value = steps.add(unpadded(op, data))
        for scale in scales:
            value = steps.apply("multiply", value, steps.numbers(scale, dtype_of(value)))
        rewriter.replace(op, steps.ops)


def shares(op: pooling.AvgPool2dOp, windows: Windows) -> list[Array] | None:
    """
    Return the cells of each window divided by those that count, along height and along width.

    The arrays broadcast to the result of `op`; one that is all 1 is omitted. None unless height and
    width are known, and the elements are f32 or f64.
    """
    type, result = as_tensor(op.data.type), as_tensor(op.result.type)
    if type is None or result is None:
        return None
    if not isinstance(type.element_type, Float32Type | Float64Type):
        return None
    padding_counts = bool(op.count_include_pad.value.data)
    arrays: list[Array] = []
    for side, axis in enumerate(windows.axes):
        size, count = type.get_shape()[axis], result.get_shape()[axis]
        if min(size, count) < 1 or count * windows.cells[side] > MOST_PADDED:
            return None
        low = -windows.padding[side] if padding_counts else 0
        high = size + (windows.padding[side + 2] if padding_counts else 0)
        starts = np.arange(count) * windows.strides[side] - windows.padding[side]
        cells = starts[:, None] + np.arange(windows.cells[side]) * windows.dilation[side]
        inside = ((cells >= low) & (cells < high)).sum(1)
        shape = [1] * type.get_num_dims()
        shape[axis] = count
        scale = (windows.cells[side] / np.maximum(inside, 1)).reshape(shape)
        if (scale != 1).any():
            arrays.append(scale.astype(numpy_dtype(type)))
    return arrays


class SeparatePaddingPass(LevelPass):
    """Split padding into a separate `nn.pad`."""

    name = "separate-padding"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        padded = Padded()
        apply_patterns(op, PadConvolution(padded), PadMaxPool(padded), PadAveragePool(padded))
