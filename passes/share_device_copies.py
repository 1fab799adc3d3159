"""
Let uses of one value on one device share a copy.

    %1 = relay.device_copy %0 : T to U            %1 = relay.device_copy %0 : T to U
    %2 = relay.add %1, %a : …                ->   %2 = relay.add %1, %a : …
    %3 = relay.device_copy %0 : T to U            %4 = relay.add %1, %b : …
    %4 = relay.add %3, %b : …

A copy is replaced by an equal one that precedes it in its block or in an enclosing block, up to the
function or closure. Copies are not moved, so no path copies more than before. (TVM copies once per
use.) Level `planned`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..dialects import relay
from ..dialects.xdsl_extras.walking import ops_of
from .sizes.scoped_code import Scopes
from .support.changes import ReportingPass
from .support.rewriting import rewrite_each
from .support.walk import outside_primitives


def equal_copies(module: ModuleOp) -> dict[Operation, SSAValue]:
    """Map each copy that an equal copy dominates to the result of that copy."""
    equal: dict[Operation, SSAValue] = {}
    scopes = Scopes()
    for op in ops_of(outside_primitives(module), relay.DeviceCopyOp):
        if op.parent is not None:
            scopes.enter(op.parent)
            key = op.value, op.result.type
            known = scopes.find(key)
            if known is None:
                scopes.add(key, op.result)
            else:
                equal[op] = known
    return equal


class ShareDeviceCopiesPass(ReportingPass):
    name = "share-device-copies"
    accepts = "planned"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        earlier = equal_copies(op)
        return rewrite_each(
            earlier, lambda copy, rewriter: rewriter.replace(copy, [], [earlier[copy]])
        )
