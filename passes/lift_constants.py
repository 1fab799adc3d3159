"""
Move constants to the start of their function, and share equal ones.

    %0 = relay.exp %x : …                           %c = relay.constant dense<1.0> : T
    %c = relay.constant dense<1.0> : T              %0 = relay.exp %x : …
    %1 = relay.add %0, %c : …                ->     %1 = relay.add %0, %c : …
    %2 = relay.if %b : … {                          %2 = relay.if %b : … {
      %d = relay.constant dense<1.0> : T              relay.yield %c : T
      relay.yield %d : T                            } …
    } …

Constants are in order of first use. Equal ones are those with one value, type and device; a large
one is equal to those with its name. A closure is a function of its own; kernels keep their
constants, as do numbers that are not tensors. (TVM: LiftConstants, once in the VM's pipeline.)
From level `relay` to `manifest`; the level stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.transforms.common_subexpression_elimination import OperationInfo

from ..dialects import relay
from ..dialects.interfaces import Rematerializable
from .support.changes import LevelPass
from .support.rewriting import rewrite_each
from .support.walk import outside_primitives


def is_constant(op: Operation) -> bool:
    """Test whether `op` is a constant, small or large."""
    return op.has_trait(Rematerializable, value_if_unregistered=False)


def entry_of(op: Operation) -> Block | None:
    """Return the block in which the body of `op` starts, if it is a function or closure."""
    return op.regions[0].first_block if isinstance(op, func.FuncOp | relay.FnOp) else None


def constants_by_function(module: ModuleOp) -> Mapping[Block, Sequence[Operation]]:
    """Return the constants of each function, in program order, by the function's first block."""
    entries: dict[Operation, Block | None] = {}
    """For each op with regions, the function that they are in."""
    constants: dict[Block, list[Operation]] = {}
    for op in outside_primitives(module):
        around = op.parent_op()
        entry = None if around is None else entries.get(around)
        if op.regions:
            entries[op] = entry_of(op) or entry
        if entry is not None and is_constant(op):
            constants.setdefault(entry, []).append(op)
    return constants


def moves(entry: Block, constants: Sequence[Operation]) -> dict[Operation, Operation]:
    """Return, for each constant that is not among the first ops of `entry`, the op to precede."""
    places: dict[Operation, Operation] = {}
    here = entry.first_op
    for constant in constants:
        assert here is not None, "a block ends in a terminator"
        if here is constant:
            here = here.next_op
        else:
            places[constant] = here
    return places


class LiftConstantsPass(LevelPass):
    name = "lift-constants"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        first: dict[Operation, Operation] = {}
        kept: dict[Block, list[Operation]] = {}
        for entry, constants in constants_by_function(op).items():
            distinct: dict[OperationInfo, Operation] = {}
            first.update((c, distinct.setdefault(OperationInfo(c), c)) for c in constants)
            kept[entry] = [*distinct.values()]
        repeated = [c for c in first if first[c] is not c]
        rewrite_each(repeated, lambda c, rewriter: rewriter.replace(c, [], first[c].results))
        before = {c: place for entry in kept for c, place in moves(entry, kept[entry]).items()}

        def move(constant: Operation, rewriter: PatternRewriter) -> None:
            constant.detach()
            rewriter.insert(constant, InsertPoint.before(before[constant]))

        rewrite_each(before, move)
