"""
Store weights in panels: the filters of one tile side by side.

    %y = relay.nn.conv2d %x, %w {NHWC, HWIO}      %s = relay.reshape %w     3x3x512x32x16
                                                  %p = relay.transpose %s   32x3x3x512x16
                                             ->   %y = relay.nn.conv2d %x, %p {NHWC, OHWI16o}

Filters of 3x3 are transformed first, G w Gᵀ in 4x4 (`winograd`), if their kernel can compute
images of known size, of at least 6x6, by Winograd's F(2x2, 3x3), with 4/9 of the multiplications:

    relay.nn.conv2d %x, %w {NHWC, HWIO}      ->   %u = relay.nn.matmul G⊗G, (9, c o) of %w
    3x3x32x64, stride 1, f32                      relay.nn.conv2d %x, %p {NHWC, OHWI16o/F23}

The sums of a tile then read their weights one after another; in HWIO, the filters of all tiles lie
between two reads, which share few sets of a cache. That pays for all but small weights. Where the
number of filters is not a multiple of `width`, zeros are added if they are few. A product with such
weights, of any number of rows, becomes a `relay.nn.packed_dense`. `fold-weights` after it computes
the panels. After `propagate-layout` and `transpose-weights`. Level: `relay`.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp, StringAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.relay import convolution, matmul, rearrange
from ..dialects.relay.properties import ints
from ..dialects.tensors import Tensor, as_tensor, bits_of, is_static, tensor_of
from ..operators.windows import PANELS, WINOGRAD
from .support.changes import LevelPass
from .support.diagnostics import OptionError
from .support.operator_steps import (
    OperatorSteps,
    RearrangedWeights,
    dtype_of,
    is_weight,
    reshaped,
    transposed,
)
from .support.rewriting import apply_patterns

LEAST_IMAGE = 6
"""The least side of results that are computed by Winograd's algorithm, in tiles of 2x2."""

MOST_ADDED = 32
"""Filters of zeros are added, up to one to so many, so that all are in panels."""


def is_large(type: Tensor, least: int) -> bool:
    """Test whether tensors of `type` have at least this many bytes."""
    bits = bits_of(type.element_type)
    return bits is not None and is_static(type) and prod(type.get_shape()) * bits >= 8 * least


def in_panels(steps: OperatorSteps, weight: SSAValue, width: int) -> SSAValue:
    """Put the filters, or columns, along the last axis into panels."""
    *others, columns = tensor_of(weight).get_shape()
    last, panels = len(others), -(-columns // width)
    if columns % width:
        widths = (0, 0) * last + (0, panels * width - columns)
        zero = steps.numbers(0, dtype_of(weight))
        weight = steps.apply("nn.pad", weight, zero, pad_width=widths)
    split = steps.add(reshaped(weight, (*others, panels, width)))
    return steps.add(transposed(split, (last, *range(last), last + 1)))


FILTERING = np.array(((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1)), np.float32)
"""G of `WINOGRAD`."""


def in_transformed_panels(steps: OperatorSteps, weight: SSAValue) -> SSAValue:
    """Transform filters (3, 3, c, o), and put them into panels."""
    *_, channels, filters = tensor_of(weight).get_shape()
    matrix = steps.numbers(np.kron(FILTERING, FILTERING), dtype_of(weight))
    cells = steps.add(reshaped(weight, (9, channels * filters)))
    product = steps.add(matmul.MatmulOp.on([matrix, cells]))
    split = steps.add(reshaped(product, (4, 4, channels, filters)))
    return in_panels(steps, split, PANELS[WINOGRAD])


def plain_filters(op: convolution.Conv2dOp) -> Tensor | None:
    """Return the type of the weights of a convolution that may get another layout."""
    layouts = op.data_layout.data, op.kernel_layout.data
    if layouts != ("NHWC", "HWIO") or op.groups.value.data != 1 or not is_weight(op.weight):
        return None
    return as_tensor(op.weight.type)


def in_layout(
    op: convolution.Conv2dOp, layout: str, weights: RearrangedWeights, rewriter: PatternRewriter
) -> None:
    """Let a convolution read its weights in another layout."""
    properties = {**op.properties, "kernel_layout": StringAttr(layout)}
    weight = weights.of(op.weight, rewriter)
    rewriter.replace(op, convolution.Conv2dOp.on([op.data, weight], properties))


@dataclass(frozen=True)
class TransformFilters(RewritePattern):
    """Transform the filters of a convolution for Winograd's F(2x2, 3x3)."""

    transformed: RearrangedWeights

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: convolution.Conv2dOp, rewriter: PatternRewriter, /) -> None:
        weight, result = plain_filters(op), as_tensor(op.result.type)
        if weight is None or result is None or not is_static(result):
            return
        steps = {*op.strides.get_values(), *op.dilation.get_values()}
        *window, channels, filters = weight.get_shape()
        if (
            weight.element_type != f32
            or op.out_dtype is not None
            or window != [3, 3]
            or steps != {1}
            or channels % PANELS[WINOGRAD]
            or filters % PANELS[WINOGRAD]
            or min(result.get_shape()[1:3]) < LEAST_IMAGE
        ):
            return
        in_layout(op, WINOGRAD, self.transformed, rewriter)


@dataclass(frozen=True)
class PackFilters(RewritePattern):
    """Put the filters of a convolution into panels."""

    layout: str
    least: int
    packed: RearrangedWeights

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: convolution.Conv2dOp, rewriter: PatternRewriter, /) -> None:
        type = plain_filters(op)
        if type is None or not is_large(type, self.least):
            return
        filters = type.get_shape()[-1]
        added = -filters % PANELS[self.layout]
        if MOST_ADDED * added > filters:
            return
        properties = {**op.properties, "kernel_layout": StringAttr(self.layout)}
        conv = convolution.Conv2dOp.on([op.data, self.packed.of(op.weight, rewriter)], properties)
        ops: list[Operation] = [conv]
        if added:
            part = {"begin": ints([0]), "end": ints([filters]), "axes": ints([3])}
            ops.append(rearrange.StridedSliceOp.on([conv.result], part))
        rewriter.replace(op, ops)


@dataclass(frozen=True)
class PackMatrix(RewritePattern):
    """Put the columns of the weights of a product into panels."""

    width: int
    least: int
    packed: RearrangedWeights

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matmul.MatmulOp, rewriter: PatternRewriter, /) -> None:
        weight = as_tensor(op.b.type)
        if weight is None or not is_weight(op.b) or is_weight(op.a):
            return
        if not is_large(weight, self.least):
            return
        if op.out_dtype is not None or op.transpose_a.value.data or op.transpose_b.value.data:
            return
        if not isinstance(weight.element_type, Float32Type | Float64Type):
            return
        if weight.get_shape()[-1] % self.width:
            return
        packed = self.packed.of(op.b, rewriter)
        rewriter.replace(op, matmul.PackedDenseOp.on([op.a, packed]))


@dataclass(frozen=True)
class PackWeightsPass(LevelPass):
    """Store weights of convolutions and products in panels."""

    name = "pack-weights"
    accepts = "relay"

    width: int = 16
    """The filters of a panel: 8, 16 or 32; 16 are the vectors that tiles of 256 bits read."""

    least: int = 1 << 16
    """The bytes of the smallest weights that are packed."""

    winograd: bool = True
    """Transform 3x3 filters for Winograd's F(2x2, 3x3)."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        layout = next((name for name, width in PANELS.items() if width == self.width), None)
        if layout is None:
            raise OptionError(f"width must be 8, 16 or 32, but is {self.width}", "width")
        if self.winograd:
            apply_patterns(op, TransformFilters(RearrangedWeights(in_transformed_panels)))
        packed = RearrangedWeights(lambda steps, weight: in_panels(steps, weight, self.width))
        pack_filters = PackFilters(layout, self.least, packed)
        apply_patterns(op, pack_filters, PackMatrix(self.width, self.least, packed))
