"""
Remove copies from a device to itself.

    %1 = relay.device_copy %0 : tensor<4xf32, #cpu0> to tensor<4xf32, #cpu0>
    %2 = relay.tanh %1 : …
    ->
    %2 = relay.tanh %0 : …

Programs that name devices in part have such copies once the devices are complete. Copies from a
device to another and back stay: the program asks for them. Level `planned`.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import relay
from .support.levels import Level
from .support.rewriting import apply_patterns
from .support.walk import outside_primitives


def is_needless(copy: relay.DeviceCopyOp) -> bool:
    """Test whether `copy` is from a device to itself."""
    return copy.operands[0].type == copy.results[0].type


class RemoveNeedlessCopy(RewritePattern):
    """Remove a copy from a device to itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.DeviceCopyOp, rewriter: PatternRewriter, /) -> None:
        if is_needless(op):
            rewriter.replace(op, [], op.operands)


@dataclass(frozen=True)
class ElideDeviceCopiesPass(ModulePass):
    """Remove copies from a device to itself."""

    name = "elide-device-copies"
    accepts: ClassVar[Level] = "planned"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        copies = [o for o in outside_primitives(op) if isinstance(o, relay.DeviceCopyOp)]
        apply_patterns(op, RemoveNeedlessCopy(), only=[o for o in copies if is_needless(o)])
