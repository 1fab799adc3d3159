"""
Store weights in panels: the filters of one tile side by side.

    %y = relay.nn.conv2d %x, %w {NHWC, HWIO}      %s = relay.reshape %w     3x3x512x32x16
                                                  %p = relay.transpose %s   32x3x3x512x16
                                             ->   %y = relay.nn.conv2d %x, %p {NHWC, OHWI16o}

The sums of a tile then read their weights one after another; in HWIO, the filters of all tiles lie
between two reads, which share few sets of a cache. That pays for all but small weights. Where the
number of filters is not a multiple of `width`, zeros are added if they are few. A product with such
weights, of any number of rows, becomes a `relay.nn.packed_dense`. `fold-weights` after it computes
the panels. After `propagate-layout` and `transpose-weights`; `transform-filters` before it takes
some convolutions. Level: `relay`.
"""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.relay import convolution, matmul, rearrange
from ..dialects.relay.properties import ints
from ..dialects.tensors import Tensor, as_tensor, bits_of, is_static
from ..operators.windows import PANELS
from .support.changes import LevelPass
from .support.diagnostics import OptionError
from .support.filter_panels import in_panels, plain_filters
from .support.operator_steps import RearrangedWeights, is_weight
from .support.rewriting import apply_patterns

MOST_ADDED = 32
"""Filters of zeros are added, up to one to so many, so that all are in panels."""


def is_large(type: Tensor, least: int) -> bool:
    """Test whether tensors of `type` have at least this many bytes."""
    bits = bits_of(type.element_type)
    return bits is not None and is_static(type) and prod(type.get_shape()) * bits >= 8 * least


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

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        layout = next((name for name, width in PANELS.items() if width == self.width), None)
        if layout is None:
            raise OptionError(f"width must be 8, 16 or 32, but is {self.width}", "width")
        packed = RearrangedWeights(lambda steps, weight: in_panels(steps, weight, self.width))
        pack_filters = PackFilters(layout, self.least, packed)
        apply_patterns(op, pack_filters, PackMatrix(self.width, self.least, packed))
