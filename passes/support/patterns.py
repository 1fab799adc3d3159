"""Patterns that several passes end with."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects import relay


class RemoveUnusedConstant(RewritePattern):
    """Remove a constant that nothing uses."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.ConstantOp, rewriter: PatternRewriter, /) -> None:
        if not op.result.uses:
            rewriter.erase(op)
