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
from xdsl.dialects.builtin import BoolAttr, Float32Type, Float64Type, ModuleOp, StringAttr
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.relay import normalization, pooling
from ..dialects.relay.properties import ints
from ..dialects.tensors import as_tensor
from .support.changes import LevelPass
from .support.operator_steps import OperatorSteps, dtype_of
from .support.rewriting import apply_patterns

LAYOUTS = {1: ("NHWC", 0), 2: ("NCHW", 0), 3: ("NCHW", 1)}
"""The layout that has an axis as height or width, and which of the two it is."""


def power(steps: OperatorSteps, x: SSAValue, exponent: float) -> SSAValue:
    """Append `x` to the power of `exponent`."""
    if exponent not in (-0.5, -0.75):
        return steps.apply("power", x, steps.numbers(exponent, dtype_of(x)))
    root = steps.apply("rsqrt", x)
    if exponent == -0.5:
        return root
    return steps.apply("multiply", root, steps.apply("sqrt", root))


class ExpandLrn(RewritePattern):
    """Compute the sums of squares as means, then the powers."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: normalization.LrnOp, rewriter: PatternRewriter, /) -> None:
        type, size = as_tensor(op.data.type), op.size.value.data
        if type is None or type.get_num_dims() != 4:
            return
        axis = op.axis.value.data % 4
        last = type.get_shape()[axis] - 1
        if axis not in LAYOUTS or last < 0:
            return
        if not isinstance(type.element_type, Float32Type | Float64Type):
            return
        before, after = min((size - 1) // 2, last), min(size // 2, last)
        window = before + 1 + after
        layout, side = LAYOUTS[axis]
        steps, dtype = OperatorSteps(), dtype_of(op.data)
        squares = steps.apply("multiply", op.data, op.data)
        means = steps.add(
            pooling.AvgPool2dOp.on(
                [squares],
                {
                    "pool_size": ints((1, window) if side else (window, 1)),
                    "padding": ints((0, before, 0, after) if side else (before, 0, after, 0)),
                    "layout": StringAttr(layout),
                    "count_include_pad": BoolAttr.from_bool(True),
                },
            )
        )
        factor = steps.numbers(op.alpha.value.data * window / size, dtype)
        scaled = steps.apply("multiply", means, factor)
        shifted = steps.apply("add", scaled, steps.numbers(op.bias.value.data, dtype))
        result = steps.apply("multiply", op.data, power(steps, shifted, -op.beta.value.data))
        steps.replace(op, [result], rewriter)


class ExpandLrnPass(LevelPass):
    """Compute local response normalizations by means over windows of channels."""

    name = "expand-lrn"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, ExpandLrn())
