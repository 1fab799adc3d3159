"""
Levels, and the one from which on a pass accepts a program.

    class ManifestAllocPass(ModulePass):
        name = "manifest-alloc"
        accepts: ClassVar[Level] = "lowered"

    error: relay.add is not in a kernel: run fuse-ops, outline-primitives first

A pass would leave ops of an earlier level as they are, silently. So a driver calls
`Reached.require` before it, which applies the rules of `verify-stage` on ops, those that no rewrite
within a level can break: an op that meets them before a pass of ours does so after it. Rules on
types are left to `verify-stage`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

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
    common = STAGES[: STAGES.index("bytecode")]
    return (*common, stage) if stage not in common else common[: common.index(stage) + 1]


def level_of(step: ModulePass) -> Level | None:
    """Return the level that a pass declares; None if it declares none, as upstream passes do."""
    return getattr(type(step), "accepts", None)


@dataclass
class Reached:
    """The level whose rules on ops a module meets, as far as that was tested."""

    module: ModuleOp | None = None
    stage: Stage = "relay"

    def require(self, step: ModulePass, module: ModuleOp) -> None:
        """
        Raise a `PassError` at the first op of a level before the one that `step` accepts.

        Nothing is walked if that is known of `module`.
        """
        if self.module is not module:
            self.module, self.stage = module, "relay"
        level = level_of(step)
        if level is None or level == "every" or level in path_to(self.stage):
            return
        from .stage_rules import require_no_earlier

        require_no_earlier(module, level)
        self.stage = level

    def note(self, step: ModulePass, changed: bool) -> None:
        """Note what is known after `step`."""
        verified: Stage | None = getattr(step, "verifies", None)
        if verified is not None:
            self.stage = verified
        elif changed and level_of(step) is None:  # it may have made any op
            self.stage = "relay"


def earlier_op(op: Operation, rule: Rule, stage: Stage) -> str:
    """Return what is wrong with `op`, which breaks `rule`, for a pass that accepts `stage`."""
    path = path_to(stage)
    after = path[path.index(rule.stage) + 1 :]
    passes = [*rule.cures, *(name for level in after for name in PRODUCERS[level])]
    return f"{op.name} {rule.lacks}: run {', '.join(passes)} first"
