"""
Expand `demo.swish` into operators of `relay`.

    %y = demo.swish %x : …    ->    %s = relay.sigmoid %x : …
                                    %y = relay.multiply %x, %s : …

From level `relay` to `relay`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.broadcast import MultiplyOp
from xrelay.dialects.relay.elementwise import SigmoidOp
from xrelay.passes.support.rewriting import apply_patterns

from .dialect import SwishOp


class ExpandSwish(RewritePattern):
    """Replace `demo.swish` with a product."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SwishOp, rewriter: PatternRewriter, /) -> None:
        types = [op.result.type]
        sigmoid = SigmoidOp.create(operands=[op.data], result_types=types)
        product = MultiplyOp.create(operands=[op.data, sigmoid.result], result_types=types)
        rewriter.replace(op, [sigmoid, product])


@dataclass(frozen=True)
class DemoExpandSwishPass(ModulePass):
    """Expand `demo.swish` into operators of `relay`."""

    name = "demo-expand-swish"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, ExpandSwish())
