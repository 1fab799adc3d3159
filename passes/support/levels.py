"""
Levels, and the one from which on a pass accepts a program.

    class ManifestAllocPass(ModulePass):
        name = "manifest-alloc"
        accepts: ClassVar[Level] = "lowered"

    error: relay.add is not in a kernel: run fuse-ops, outline-primitives first

A pass would leave ops of an earlier level as they are, silently. So a driver asks `Reached.admits`
before it, which applies the rules of `verify-stage` on ops, those that no pass of ours breaks: a
module that met them before a pass does so after it. Rules on types are left to `verify-stage`. What
has reached one of the three ends is left unchanged by the passes on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .changes import InspectionPass
from .diagnostics import PassError

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from .stage_rules import Rule

Stage = Literal[
    "relay",
    "planned",
    "fused",
    "lowered",
    "manifest",
    "memory-planned",
    "bytecode",
    "memref",
    "linalg",
]

STAGES: tuple[Stage, ...] = get_args(Stage)
"""The levels, from the top down; the last three are the ends of three paths."""

ENDS = STAGES[-3:]

Level = Stage | Literal["every"]
"""What a pass declares: the first level that it accepts, or that it has no level."""

PRODUCERS: dict[Stage, tuple[str, ...]] = {
    "planned": ("plan-devices",),
    "fused": ("fuse-ops",),
    "lowered": ("outline-primitives",),
    "manifest": ("manifest-alloc",),
    "memory-planned": ("plan-memory",),
    "bytecode": ("lower-to-bytecode",),
    "memref": ("convert-relay-to-linalg", "convert-memory-to-memref"),
    "linalg": ("convert-program-to-linalg",),
}
"""The passes that lead to each level from the one before."""


def path_to(stage: Stage) -> tuple[Stage, ...]:
    """Return the levels that a program passes on its way to `stage`, which is the last."""
    if stage == "linalg":
        return ("relay", stage)
    common = STAGES[: -len(ENDS)]
    return (*common, stage) if stage in ENDS else common[: common.index(stage) + 1]


def level_of(step: ModulePass) -> Level | None:
    """Return the level that a pass declares; None if it declares none, as upstream passes do."""
    return getattr(type(step), "accepts", None)


def end_after(step: ModulePass) -> Stage | None:
    """Return the end that `step` leads to, or that it accepts."""
    level = level_of(step)
    return next((end for end in ENDS if end == level or step.name in PRODUCERS[end]), None)


@dataclass
class Reached:
    """What is known of the level of a module, as passes run."""

    module: ModuleOp | None = None
    stage: Stage = "relay"
    """A level whose rules on ops it meets."""
    is_before_ends: bool = False
    """True if it is known to be at none of `ENDS`."""

    def admits(self, step: ModulePass, module: ModuleOp) -> bool:
        """
        Test whether `step` is to run: not if `module` is at an end that lies behind it.

        Raises a `PassError` at the first op of a level before the one that `step` accepts, or of
        one from which nothing leads to it. What is known of `module` is not tested again.
        """
        if self.module is not module:
            self.module, self.stage, self.is_before_ends = module, "relay", False
        level = level_of(step)
        if level is None or level == "every" or (level in ENDS and level == self.stage):
            return True
        if not self.is_before_ends and not isinstance(step, InspectionPass):
            from .stage_rules import end_of

            end = end_of(module)
            self.is_before_ends = end is None
            if end is not None and end.stage != level:
                goal = end_after(step)
                if goal is None or goal == end.stage:
                    return False
                message = f"{end.op.name} is of level {end.stage}, which does not lead to {goal}"
                raise PassError(message, end.op)
            if end is not None:
                self.stage = end.stage
        if level not in path_to(self.stage):
            from .stage_rules import require_no_earlier

            require_no_earlier(module, level)
            self.stage = level
        return True

    def note(self, step: ModulePass, changed: bool) -> None:
        """Note what is known after `step`."""
        verified: Stage | None = getattr(step, "verifies", None)
        if verified is not None:
            self.stage = verified
        elif changed and level_of(step) is None:  # it may have made any op
            self.stage, self.is_before_ends = "relay", False
        elif changed and end_after(step) is not None:
            self.is_before_ends = False


def earlier_op(op: Operation, rule: Rule, stage: Stage) -> str:
    """Return what is wrong with `op`, which breaks `rule`, for a pass that accepts `stage`."""
    path = path_to(stage)
    after = path[path.index(rule.stage) + 1 :]
    passes = [*rule.cures, *(name for level in after for name in PRODUCERS[level])]
    return f"{op.name} {rule.lacks}: run {', '.join(passes)} first"
