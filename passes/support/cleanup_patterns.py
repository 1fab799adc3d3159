"""Patterns that several passes end with."""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from ...dialects import relay


class RemoveUnusedConstant(RewritePattern):
    """Remove a constant that nothing uses."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.ConstantOp, rewriter: PatternRewriter, /) -> None:
        if not op.result.uses:
            rewriter.erase(op)


class RemoveUnusedValue(RewritePattern):
    """Remove an op without effects that nothing uses."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if is_trivially_dead(op):
            rewriter.erase(op)
