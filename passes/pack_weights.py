"""
Store weights in panels: the filters of one tile side by side.

    %y = relay.nn.conv2d %x, %w {NHWC, HWIO}      %s = relay.reshape %w     3x3x512x16x32
                                                  %p = relay.transpose %s   16x3x3x512x32
                                             ->   %y = relay.nn.conv2d %x, %p {NHWC, OHWI32o}

The sums of a tile then read their weights one after another; in HWIO, the filters of all tiles lie
between two reads. That pays for weights that do not fit a cache. Smaller ones stay, as do those
whose number of filters is not a multiple of `width`. A product of a matrix of known size with large
weights becomes a convolution of an image that is one pixel high; reshapes before and after it are
one with its own. What this does to weights is for `fold-weights` after it. After `propagate-layout`
and `transpose-weights`. Level: `relay`.
"""

from dataclasses import dataclass, field
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, Float32Type, Float64Type, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects.relay import convolution, matmul, rearrange, reshape
from ..dialects.relay.properties import ints
from ..dialects.tensors import Tensor, as_tensor, bits_of, is_static
from ..operators.windows import PANELS
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns
from .transpose_weights import is_constant


def is_large(type: Tensor, least: int) -> bool:
    """Test whether tensors of `type` have at least this many bytes."""
    bits = bits_of(type.element_type)
    return bits is not None and is_static(type) and prod(type.get_shape()) * bits >= 8 * least


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
        if type is None or not is_large(type, self.least):
            return
        *window, channels, filters = type.get_shape()
        if filters % width:
            return
        if op.weight not in self.made:
            split = reshaped(op.weight, *window, channels, filters // width, width)
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
class MatrixAsFilters(RewritePattern):
    """Compute a product with weights as a convolution of an image one pixel high."""

    width: int
    least: int
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The weights as filters, each once."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matmul.MatmulOp, rewriter: PatternRewriter, /) -> None:
        data, weight = as_tensor(op.a.type), as_tensor(op.b.type)
        if data is None or weight is None or not is_constant(op.b):
            return
        if op.out_dtype is not None or op.transpose_a.value.data or op.transpose_b.value.data:
            return
        if not isinstance(weight.element_type, Float32Type | Float64Type):
            return
        if data.get_num_dims() != 2 or min(data.get_shape()) < 1:
            return
        if weight.get_num_dims() != 2 or not is_large(weight, self.least):
            return
        depth, columns = weight.get_shape()
        if columns % self.width:
            return
        if op.b not in self.made:
            filters = reshaped(op.b, 1, 1, depth, columns)
            filters.result.name_hint = op.b.name_hint
            owner = op.b.owner
            assert isinstance(owner, Operation)
            rewriter.insert(filters, InsertPoint.after(owner))
            self.made[op.b] = filters.result
        rows, _ = data.get_shape()
        image = reshaped(op.a, 1, 1, rows, depth)
        layouts = {"data_layout": StringAttr("NHWC"), "kernel_layout": StringAttr("HWIO")}
        made = convolution.Conv2dOp.on([image.result, self.made[op.b]], layouts)
        result = reshaped(made.result, rows, columns)
        result.result.name_hint = op.result.name_hint
        rewriter.replace(op, [image, made, result])


class MergeReshapes(RewritePattern):
    """Reshape to a known shape what was reshaped before, in one step."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: reshape.ReshapeOp, rewriter: PatternRewriter, /) -> None:
        before, type = op.data.owner, as_tensor(op.result.type)
        if (
            not isinstance(before, reshape.ReshapeOp)
            or type is None
            or min(type.get_shape(), default=0) < 1
        ):
            return
        made = reshaped(before.data, *type.get_shape())
        made.result.name_hint = op.result.name_hint
        rewriter.replace(op, made)
        if not before.result.uses:
            rewriter.erase(before)


def reshaped(value: SSAValue, *sizes: int) -> reshape.ReshapeOp:
    zero = BoolAttr.from_bool(False)
    return reshape.ReshapeOp.on([value], {"newshape": ints(sizes), "allowzero": zero})


@dataclass(frozen=True)
class PackWeightsPass(ModulePass):
    """Store weights of convolutions and products in panels."""

    name = "pack-weights"

    width: int = 32
    """The filters of a panel: 8, 16 or 32, which is two vectors of the widest processors."""

    least: int = 1 << 20
    """The bytes of the smallest weights that are packed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        layout = next((name for name, width in PANELS.items() if width == self.width), None)
        if layout is None:
            raise PassError(f"width must be 8, 16 or 32, but is {self.width}", op)
        has_products = apply_patterns(op, MatrixAsFilters(self.width, self.least))
        apply_patterns(op, PackFilters(layout, self.least))
        if has_products:
            apply_patterns(op, MergeReshapes())
