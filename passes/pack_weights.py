"""
Store the weights of convolutions in panels: the filters of one tile side by side.

    %y = relay.nn.conv2d %x, %w {NHWC, HWIO}      %s = relay.reshape %w     3x3x512x16x32
                                                  %p = relay.transpose %s   16x3x3x512x32
                                             ->   %y = relay.nn.conv2d %x, %p {NHWC, OHWI32o}

The sums of a tile then read their weights one after another; in HWIO, the filters of all tiles lie
between two reads. That pays for weights that do not fit a cache. Smaller ones stay, as do those
whose number of filters is not a multiple of `width`. What this does to weights is for
`fold-weights` after it. After `propagate-layout`. Level: `relay`.
"""

from dataclasses import dataclass, field
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.relay import convolution, rearrange, reshape
from ..dialects.relay.properties import ints
from ..dialects.tensors import as_tensor, bits_of, is_static
from ..operators.windows import PANELS
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns


def is_constant(value: SSAValue) -> bool:
    """Test whether `value` is a weight, as it is or transposed."""
    owner = value.owner
    if isinstance(owner, rearrange.TransposeOp):
        owner = owner.data.owner
    return isinstance(owner, relay.ConstantOp | relay.ParamOp)


@dataclass(frozen=True)
class PackFilters(RewritePattern):
    """Put the filters of a convolution into panels."""

    layout: str
    least: int
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The weights in panels, each once."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: convolution.Conv2dOp, rewriter: PatternRewriter, /) -> None:
        layouts = op.data_layout.data, op.kernel_layout.data
        if layouts != ("NHWC", "HWIO") or op.groups.value.data != 1 or not is_constant(op.weight):
            return
        type, width = as_tensor(op.weight.type), PANELS[self.layout]
        bits = None if type is None else bits_of(type.element_type)
        if type is None or bits is None or not is_static(type):
            return
        *window, channels, filters = type.get_shape()
        if filters % width or prod(type.get_shape()) * bits < 8 * self.least:
            return
        if op.weight not in self.made:
            sizes = ints((*window, channels, filters // width, width))
            zero = BoolAttr.from_bool(False)
            split = reshape.ReshapeOp.on([op.weight], {"newshape": sizes, "allowzero": zero})
            packed = rearrange.TransposeOp.on([split.result], {"axes": ints((3, 0, 1, 2, 4))})
            packed.result.name_hint = op.weight.name_hint
            owner = op.weight.owner
            assert isinstance(owner, Operation)
            rewriter.insert([split, packed], InsertPoint.after(owner))
            self.made[op.weight] = packed.result
        properties = {**op.properties, "kernel_layout": StringAttr(self.layout)}
        made = convolution.Conv2dOp.on([op.data, self.made[op.weight]], properties)
        made.result.name_hint = op.result.name_hint
        rewriter.replace(op, made)


@dataclass(frozen=True)
class PackWeightsPass(ModulePass):
    """Store the weights of convolutions in panels."""

    name = "pack-weights"

    width: int = 32
    """The filters of a panel: 8, 16 or 32, two vectors of the processor."""

    least: int = 1 << 20
    """The bytes of the smallest weights that are packed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        layout = next((name for name, width in PANELS.items() if width == self.width), None)
        if layout is None:
            raise PassError(f"width must be 8, 16 or 32, but is {self.width}", op)
        apply_patterns(op, PackFilters(layout, self.least))
