"""
Compute transposed convolutions as convolutions of which each sum is a pixel of a block.

    %y = relay.nn.conv2d_transpose %x, %w      %l = relay.transpose %x             1x4x5x2
      {strides = array<i64: 2, 2>}        ->   %c = relay.nn.conv2d %l, %f         1x4x5x12
                                               %b = relay.reshape %c               1x4x5x2x2x3
                                               %t = relay.transpose %b             1x4x2x5x2x3
                                               %i = relay.reshape %t               1x8x10x3
                                               %y = relay.transpose %i             1x3x8x10

Pixel s q + r of a side of the result is the sum of x[q - m] w[s m + r] over m: for each r a
convolution with every s-th cell of the window, turned around. So no product is with a zero between
pixels, and what is known of convolutions holds: their layout, channels last, panels, tiles. Windows
whose sides are not multiples of the stride get cells of zeros, so an infinite pixel may make
neighbours NaN that the definition does not reach. Whole blocks that `padding` cuts off are not
computed; a slice cuts off the rest.

For constant weights without dilation; others stay. After `lower-qnn`; `fold-constants` and
`fold-weights` after it compute the filters. Before `propagate-layout`. Level: `relay`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.relay import convolution
from ..dialects.tensors import as_tensor, is_static, tensor_of
from .support.changes import ReportingPass
from .support.operator_steps import OperatorSteps, dtype_of, is_weight
from .support.rewriting import apply_patterns

EVERYTHING = 1 << 62
"""The end of a slice that has no end."""


@dataclass(frozen=True)
class Side:
    """The blocks of `stride` pixels along one side that a convolution computes."""

    stride: int
    cells: int
    """Of the window of the transposed convolution."""
    before: int
    """The padding of the convolution."""
    after: int
    first: int
    """The pixels of the first block that are cut off."""
    last: int

    @staticmethod
    def of(stride: int, cells: int, before: int, after: int, extra: int) -> "Side":
        """Return the blocks if so many pixels are cut off, and `extra` are added at the end."""
        dropped, first = divmod(before, stride)
        end = cells + extra - after
        blocks = -(-end // stride)
        window = -(-cells // stride)
        return Side(stride, cells, window - 1 - dropped, blocks - 1, first, blocks * stride - end)

    @property
    def window(self) -> int:
        """The cells of the convolution's window."""
        return -(-self.cells // self.stride)


def filters(steps: OperatorSteps, weight: SSAValue, sides: Sequence[Side], groups: int) -> SSAValue:
    """Append the rearrangement of `weight` as filters, one for each pixel of a block."""
    channels, outputs, *_ = tensor_of(weight).get_shape()
    added = [side.window * side.stride - side.cells for side in sides]
    if any(added):
        zero = steps.numbers(0, dtype_of(weight))
        widths = (0, 0, 0, 0, *(n for count in added for n in (0, count)))
        weight = steps.apply("nn.pad", weight, zero, pad_width=widths)
    parts = (n for side in sides for n in (side.window, side.stride))
    shape = (groups, channels // groups, outputs, *parts)
    weight = steps.apply("reshape", weight, newshape=shape)
    for axis, side in zip((3, 5), sides, strict=True):
        if side.window > 1:
            weight = steps.apply("reverse", weight, axis=axis)
    weight = steps.apply("transpose", weight, axes=(3, 5, 1, 0, 4, 6, 2))
    high, wide = (side.window for side in sides)
    return steps.apply("reshape", weight, newshape=(high, wide, channels // groups, -1))


def unfolded(
    steps: OperatorSteps, blocks: SSAValue, strides: Sequence[int], groups: int, outputs: int
) -> SSAValue:
    """Append the move of the pixels of blocks, (group, row, column, output), to their places."""
    if max(strides) == 1:
        return blocks
    parts = {name: n for name, n in zip("grc", (groups, *strides), strict=True) if n > 1}
    order = ["n", "h", "w", *parts, "o"]
    axes = tuple(order.index(name) for name in "nhrwcgo" if name in order)
    image = steps.apply("reshape", blocks, newshape=(0, 0, 0, *parts.values(), outputs))
    if [*axes] != sorted(axes):
        image = steps.apply("transpose", image, axes=axes)
    return steps.apply("reshape", image, newshape=(0, *(-3 if n in parts else 0 for n in "rcg")))


class ExpandTransposedConvolution(RewritePattern):
    """Convolve with a filter for each pixel of a block; then put the blocks side by side."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: convolution.Conv2dTransposeOp, rewriter: PatternRewriter, /
    ) -> None:
        weight, groups = as_tensor(op.weight.type), op.groups.value.data
        if weight is None or not is_static(weight) or not is_weight(op.weight):
            return
        if op.dilation.get_values() != (1, 1) or 0 in weight.get_shape():
            return
        strides, padding = op.strides.get_values(), op.padding.get_values()
        cells, extra = weight.get_shape()[2:], op.output_padding.get_values()
        sides = [
            Side.of(strides[i], cells[i], padding[i], padding[i + 2], extra[i]) for i in range(2)
        ]
        padding = (*(side.before for side in sides), *(side.after for side in sides))
        if min(padding) < 0:
            return
        steps = OperatorSteps()
        images = steps.apply("transpose", op.data, axes=(0, 2, 3, 1))
        kernel = filters(steps, op.weight, sides, groups)
        layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
        blocks = steps.apply("nn.conv2d", images, kernel, padding=padding, groups=groups, **layouts)
        result = unfolded(steps, blocks, strides, groups, weight.get_shape()[1])
        if any(side.first or side.last for side in sides):
            begin = tuple(side.first for side in sides)
            end = tuple(-side.last or EVERYTHING for side in sides)
            result = steps.apply("strided_slice", result, begin=begin, end=end, axes=(1, 2))
        result = steps.apply("transpose", result, axes=(0, 3, 1, 2))
        if result.type == op.result.type:
            steps.replace(op, [result], rewriter)


class ExpandTransposedConvolutionsPass(ReportingPass):
    name = "expand-transposed-convolutions"
    accepts = "relay"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        return apply_patterns(op, ExpandTransposedConvolution())
