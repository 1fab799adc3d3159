"""
Compute local response normalizations of images by means over windows of channels.

                                        %s = relay.multiply %x, %x
    %y = relay.nn.lrn %x           ->   %m = relay.nn.avg_pool2d %s        of 1 x size cells
      {axis = 3, size = 5}              %p = (bias + alpha * %m) ^ -beta
                                        %y = relay.multiply %x, %p

The window is along the axis of the channels, which the pool's layout calls height or width. So
`separate-padding` pads the squares, kernels for pools compute their means in vectors, and nothing
is in memory outside the plan. The powers -1/2 and -3/4 are roots. After `propagate-layout`, before
`separate-padding`. Level: `relay`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.relay import normalization
from ..dialects.tensors import as_tensor
from .support.changes import LevelPass
from .support.operator_steps import OperatorSteps
from .support.rewriting import apply_patterns


class ExpandLrn(RewritePattern):
    """Replace a normalization of an image by the operators of its meaning."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: normalization.LrnOp, rewriter: PatternRewriter, /) -> None:
        type = as_tensor(op.data.type)
        if type is None or type.get_num_dims() != 4 or not op.axis.value.data % 4:
            return
        if isinstance(type.element_type, Float32Type | Float64Type):
            OperatorSteps().replace_by_meaning(op, rewriter)


class ExpandLrnPass(LevelPass):
    """Compute local response normalizations by means over windows of channels."""

    name = "expand-lrn"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, ExpandLrn())
