"""
Levels, and the one from which on a pass accepts a program.

    class ManifestAllocPass(LevelPass):
        name = "manifest-alloc"
        accepts = "lowered"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

Stage = Literal[
    "relay",
    "planned",
    "fused",
    "lowered",
    "manifest",
    "memory-planned",
    "expanded",
    "bytecode",
    "memref",
    "linalg",
]

STAGES: tuple[Stage, ...] = get_args(Stage)
"""The levels, from the top down; the last three are the ends of three paths."""

ENDS = STAGES[-3:]

Level = Stage | Literal["every"]
"""The first level that a pass accepts; `every` of one that has no level."""

PRODUCERS: dict[Stage, tuple[str, ...]] = {
    "planned": ("plan-devices",),
    "fused": ("fuse-ops",),
    "lowered": ("outline-primitives",),
    "manifest": ("manifest-alloc",),
    "memory-planned": ("plan-memory",),
    "expanded": ("expand-packs",),
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
