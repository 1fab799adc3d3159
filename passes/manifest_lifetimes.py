"""
End the lifetime of allocated bytes right after their last use, on every path.

    %y = vm.invoke_tvm_op @f …                     %y = vm.invoke_tvm_op @f …
    %r = relay.if %c … {                           %r = relay.if %c … {
      %z = vm.invoke_tvm_op @g ins(%y) …             %z = vm.invoke_tvm_op @g ins(%y) …
      relay.yield %z                         ->      memory.kill %y
    } else {                                         relay.yield %z
      …                                            } else {
                                                     memory.kill %y
                                                     …

Bytes die under the name that is defined last, when none of their names is used any more (see
`bytes.aliases`, `bytes.liveness`). Bytes that a function returns are not killed in it, nor
are those of its parameters and captured values, which belong to its caller (design note 24), nor
constants. Storage is freed with its last tensor. Existing kills are replaced; a second run changes
nothing. (TVM: ManifestLifetimes.) From level `manifest` to `memory-planned`.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import memory
from .bytes.aliases import AliasClasses, bodies_of
from .bytes.liveness import Point, deaths
from .support.changes import LevelPass
from .support.rewriting import rewrite_each


@dataclass(frozen=True)
class Changes:
    """The kills to insert at each point, and those to remove."""

    inserts: dict[Point, list[SSAValue]] = field(default_factory=lambda: {})
    removes: dict[Operation, None] = field(default_factory=lambda: {})


def plan_kills(classes: AliasClasses, changes: Changes) -> None:
    """Add the changes for a body; where its kills are right they stay."""
    planned = deaths(classes, few=True)
    for point, kills in planned.kills.items():
        names = planned.names.get(point, [])
        if [kill.operands[0] for kill in kills] == names:
            planned.names.pop(point, None)
        else:
            changes.removes.update(dict.fromkeys(kills))
    changes.inserts.update(planned.names)


def kills_of(names: list[SSAValue]) -> list[Operation]:
    return [memory.KillOp.create(operands=[name]) for name in names]


def insert_kills(op: Operation, changes: Changes, rewriter: PatternRewriter) -> None:
    """Insert kills after an op, and at the starts of its regions."""
    if names := changes.inserts.get(op):
        rewriter.insert(kills_of(names), InsertPoint.after(op))
    for region in op.regions:
        for block in region.blocks:
            if names := changes.inserts.get(block):
                rewriter.insert(kills_of(names), InsertPoint.at_start(block))


def place_of(point: Point) -> Operation:
    """Return the op at which the kills at `point` are inserted."""
    op = point.parent_op() if isinstance(point, Block) else point
    assert op is not None, "a block without an op"
    return op


class ManifestLifetimesPass(LevelPass):
    name = "manifest-lifetimes"
    accepts = "manifest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        changes = Changes()
        for classes in bodies_of(op):
            plan_kills(classes, changes)
        rewrite_each(changes.removes, lambda kill, rewriter: rewriter.erase(kill))
        places = dict.fromkeys(map(place_of, changes.inserts))
        rewrite_each(places, lambda place, rewriter: insert_kills(place, changes, rewriter))
