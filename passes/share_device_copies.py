"""
Let uses of one value on one device share a copy.

    %1 = relay.device_copy %0 : T to U            %1 = relay.device_copy %0 : T to U
    %2 = relay.add %1, %a : …                ->   %2 = relay.add %1, %a : …
    %3 = relay.device_copy %0 : T to U            %4 = relay.add %1, %b : …
    %4 = relay.add %3, %b : …

A copy is replaced by an equal one that precedes it in its block or in an enclosing block. Copies
are not moved, so no path copies more than before. (TVM copies once per use.) Level `planned`.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import relay
from .support.changes import ReportingPass
from .support.levels import Level
from .support.rewriting import rewrite_each

Copied = tuple[SSAValue, Attribute]
"""The copied value and the type of the copy."""


def equal_copies(module: ModuleOp) -> dict[Operation, SSAValue]:
    """Map each copy that an equal copy dominates to the result of that copy."""
    found: dict[Operation, SSAValue] = {}
    known: dict[Copied, SSAValue] = {}
    scopes: list[list[Copied]] = []  # the copies of each enclosing block, outermost first
    pending: list[Operation | Block | None] = [*module.body.blocks]
    while pending:
        here = pending.pop()
        if here is None:
            for key in scopes.pop():
                del known[key]
        elif isinstance(here, Block):
            scopes.append([])
            pending.append(None)
            pending += reversed(tuple(here.ops))
        elif isinstance(here, relay.DeviceCopyOp):
            key = (here.value, here.result.type)
            if key in known:
                found[here] = known[key]
            else:
                known[key] = here.result
                scopes[-1].append(key)
        else:
            pending += (block for region in here.regions for block in region.blocks)
    return found


@dataclass(frozen=True)
class ShareDeviceCopiesPass(ReportingPass):
    """Let uses of one value on one device share a copy."""

    name = "share-device-copies"
    accepts: ClassVar[Level] = "planned"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        earlier = equal_copies(op)
        return rewrite_each(
            earlier, lambda copy, rewriter: rewriter.replace(copy, [], [earlier[copy]])
        )
