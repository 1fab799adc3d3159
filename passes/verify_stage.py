"""
Check that no op of a higher level remains.

    xrelay-opt -p 'fuse-ops,verify-stage{stage=fused}'

    error: relay.add is left at stage fused: fuse-ops should have put it into a primitive

A level is what its IR may contain (see `docs/levels.md`). Each rule rejects ops by their interfaces
and names the pass that should have removed them; it holds for its stage and all below. At
`memory-planned`, no bytes may be used after a `memory.kill` of them on any path: passes that move
or merge ops, such as `cse` and `canonicalize`, must run before. Every level.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..dialects import memory
from ..dialects.xdsl_extras.walking import walk
from ..dialects.xdsl_extras.xdsl_internals import operands_of
from ..operators.records import record
from .bytes.aliases import bodies_of
from .bytes.liveness import used_after_kill
from .support.changes import InspectionPass
from .support.diagnostics import PassError
from .support.levels import Stage
from .support.stage_rules import Rule, defined_values, rules_at, share_device
from .support.walk import is_kernel, outside_primitives


@cache
def rules_for(
    stage: Stage, in_kernels: bool, kind: type[Operation]
) -> tuple[Sequence[Rule], Sequence[Rule]]:
    """Return the rules that concern ops of class `kind`, and those that are not on types."""
    rules = [rule for rule in rules_at(stage) if rule.in_kernels or not in_kernels]
    rules = [rule for rule in rules if rule.concerns(kind)]
    return rules, [rule for rule in rules if not rule.on_types(kind)]


@record
class Requirements:
    """Checks that ops meet the rules of `stage`, while nothing changes."""

    stage: Stage
    in_kernels: bool
    met: set[tuple[object, ...]] = field(default_factory=lambda: set())
    """Op classes with the identities of types, for which the rules on types are met."""

    def require(self, op: Operation) -> None:
        """Raise an error if `op` breaks a rule."""
        kind = type(op)
        rules, others = rules_for(self.stage, self.in_kernels, kind)
        if len(rules) > len(others):
            types = [value.type for value in (*operands_of(op), *defined_values(op))]
            key = (kind, *map(id, types))
            if key in self.met:
                rules = others
            elif share_device(types):
                self.met.add(key)
        for rule in rules:
            fault = rule.fault(op)
            if fault is not None:
                raise PassError(f"{op.name} is left at stage {self.stage}: {fault}", op)


def require_kills_last(module: ModuleOp) -> None:
    """Raise an error if an op uses bytes after a kill of them."""
    if not any(isinstance(op, memory.KillOp) for op in walk(module)):
        return
    for classes in bodies_of(module):
        use = used_after_kill(classes)
        if use is not None:
            user, kill = use
            raise PassError(
                f"{user.name} uses bytes that are killed before it: passes that move or merge ops, "
                "such as cse and canonicalize, must run before manifest-lifetimes",
                user,
                notes=[(kill, "they are killed here")],
            )


@dataclass(frozen=True)
class VerifyStagePass(InspectionPass):
    """Fail when an op of a higher level than the given stage is left."""

    name = "verify-stage"
    accepts = "every"

    stage: Stage
    """The level that the program must be at."""

    @property
    def verifies(self) -> Stage:
        """The level that a program is at if this pass succeeds."""
        return self.stage

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        everywhere = Requirements(self.stage, in_kernels=False)
        in_kernels = Requirements(self.stage, in_kernels=True)
        for outside in outside_primitives(op.body):
            everywhere.require(outside)
            if outside.regions and is_kernel(outside):
                for region in outside.regions:
                    for inside in walk(region):
                        in_kernels.require(inside)
        if self.stage == "memory-planned":
            require_kills_last(op)
