"""
Let uses of one value on one device share a copy.

    %1 = relay.device_copy %0 : T to U            %1 = relay.device_copy %0 : T to U
    %2 = relay.add %1, %a : …                ->   %2 = relay.add %1, %a : …
    %3 = relay.device_copy %0 : T to U            %4 = relay.add %1, %b : …
    %4 = relay.add %3, %b : …

A copy is replaced by an equal one that stands before it in its block or in a block around it; none
is moved, so nothing is copied that was not, and no branch waits for another's copy. (TVM copies
once a use.) Level `planned`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import IsolatedFromAbove

from ..dialects import relay
from .rewriting import apply_patterns

Known = dict[tuple[SSAValue, Attribute], SSAValue]


def equal_copies(module: ModuleOp) -> dict[Operation, SSAValue]:
    """For each copy that has an equal one before it: the result of that."""
    found: dict[Operation, SSAValue] = {}
    pending: list[tuple[Block, Known]] = [(block, {}) for block in module.body.blocks]
    while pending:
        block, around = pending.pop()
        known: Known = dict(around)
        for op in block.ops:
            if isinstance(op, relay.DeviceCopyOp):
                first = known.setdefault((op.value, op.result.type), op.result)
                if first is not op.result:
                    found[op] = first
            visible = {} if op.has_trait(IsolatedFromAbove) else known
            for region in op.regions:
                pending += [(inner, dict(visible)) for inner in region.blocks]
    return found


@dataclass(frozen=True)
class UseEarlierCopy(RewritePattern):
    """Replace a copy by the equal one before it."""

    earlier: dict[Operation, SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.DeviceCopyOp, rewriter: PatternRewriter, /) -> None:
        if op in self.earlier:
            rewriter.replace(op, [], [self.earlier[op]])


@dataclass(frozen=True)
class ShareDeviceCopiesPass(ModulePass):
    """Let uses of one value on one device share a copy."""

    name = "share-device-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, UseEarlierCopy(equal_copies(op)))
