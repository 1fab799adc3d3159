"""
Move reshapes to what they reshape, so that all of a chain's steps follow each other.

    %s = relay.nn.softmax %a                        %w = relay.reshape %v
    %w = relay.reshape %v                     ->    %s = relay.nn.softmax %a
    %y = relay.nn.batch_matmul %s, %w               %y = relay.nn.batch_matmul %s, %w

Exporters write the values of attention, with heads and batch as one dim, between the weights and
their product, which reads them as a whole: a chain of queries could not have both. A reshape needs
no bytes of its own. Level `relay`, before `choose-tiling`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ..dialects.interfaces import Fusible, only_reshapes
from .support.changes import LevelPass
from .support.rewriting import apply_patterns, op_trait_rewrite_pattern


class HoistReshape(RewritePattern):
    """Move a reshape behind the op that computes its operand, and reshapes of the same."""

    @op_trait_rewrite_pattern(Fusible)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        owner = op.operands[0].owner if len(op.operands) == 1 else None
        if not only_reshapes(op) or not isinstance(owner, Operation):
            return  # to computed sizes, or of a parameter
        before = owner
        while (after := before.next_op) is not None and only_reshapes(after):
            if after is op:
                return
            before = after
        if owner.parent is op.parent:
            op.detach()
            rewriter.insert(op, InsertPoint.after(before))


class HoistReshapesPass(LevelPass):
    """Move reshapes to what they reshape."""

    name = "hoist-reshapes"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, HoistReshape())
