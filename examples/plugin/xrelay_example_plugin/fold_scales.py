"""
Fold a multiplication by a constant scalar into the scale of the `demo.scaled_tanh` after it.

    %c = relay.constant dense<2.0> : tensor<f32>
    %0 = relay.multiply %x, %c : …                  ->   %1 = demo.scaled_tanh %x {scale = 1.0} : …
    %1 = demo.scaled_tanh %0 {scale = 0.5} : …

The results are equal up to rounding. A product with other uses is kept.
From level `relay` to `relay`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f64
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects import relay
from xrelay.dialects.relay.broadcast import MultiplyOp
from xrelay.passes.analysis.arrays import array_of
from xrelay.passes.support.rewriting import apply_patterns

from .dialect import ScaledTanhOp


def scalar_of(value: SSAValue) -> float | None:
    """Return the value of a constant of rank 0; None if `value` is not one."""
    if not isinstance(value.owner, relay.ConstantOp):
        return None
    array = array_of(value.owner.value)
    return None if array is None or array.ndim else float(array)


def scaled_operand(product: Operation) -> tuple[SSAValue, float] | None:
    """Return the tensor and the scalar constant if `product` multiplies one by the other."""
    if not isinstance(product, MultiplyOp):
        return None
    for value, other in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        scale = scalar_of(other)
        if scale is not None and value.type == product.result.type:
            return value, scale
    return None


class FoldScale(RewritePattern):
    """Fold a scalar factor of the operand into `scale`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScaledTanhOp, rewriter: PatternRewriter, /) -> None:
        product = op.data.owner
        if not isinstance(product, Operation) or (scaled := scaled_operand(product)) is None:
            return
        value, by = scaled
        scale = FloatAttr(op.scale.value.data * by, f64)
        scaled_op = ScaledTanhOp.create(
            operands=[value], result_types=[op.result.type], properties={"scale": scale}
        )
        rewriter.replace(op, scaled_op)
        unused = [product, *(o.op for o in product.operands if isinstance(o, OpResult))]
        for dead in unused:
            if not any(result.uses for result in dead.results):
                rewriter.erase(dead)


@dataclass(frozen=True)
class DemoFoldScalesPass(ModulePass):
    """Fold a multiplication by a constant scalar into the scale of a `demo.scaled_tanh`."""

    name = "demo-fold-scales"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        while apply_patterns(op, FoldScale()):
            pass
