"""Random programs: their text is exact at every level, and plans are final."""

from typing import Any

import numpy.typing as npt
from helpers.programs.programs import context, parse, printed, programs
from helpers.programs.random_settings import exactly
from hypothesis import given
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.lowering.lower_to_bytecode import LowerToBytecodePass
from xrelay.passes.fold_constants import FoldConstantsPass
from xrelay.passes.fuse_ops import FuseOpsPass
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.manifest_alloc import ManifestAllocPass
from xrelay.passes.manifest_lifetimes import ManifestLifetimesPass
from xrelay.passes.outline_primitives import OutlinePrimitivesPass
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.remove_dead_writes import RemoveDeadWritesPass
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass

Array = npt.NDArray[Any]


def pipeline(level: int) -> list[ModulePass]:
    """The passes to `memory-planned`, verifying each level; fusion level 0 keeps the constants."""
    return [
        InferTypesPass(),
        *([FoldConstantsPass()] if level else []),
        PlanDevicesPass(),
        VerifyStagePass("planned"),
        FuseOpsPass(level),
        VerifyStagePass("fused"),
        OutlinePrimitivesPass(),
        VerifyStagePass("lowered"),
        ManifestAllocPass(),
        RemoveDeadWritesPass(),
        VerifyStagePass("manifest"),
        ManifestLifetimesPass(),
        VerifyStagePass("memory-planned"),
    ]


def same_text(module: ModuleOp) -> None:
    """Check that the custom and the generic text are read back as the module."""
    for generic in (False, True):
        text = printed(module, generic)
        again = parse(text)
        verify(again)
        assert printed(again, generic) == text
        assert again.is_structurally_equivalent(module)


@exactly(10)
@given(programs())
def test_text_is_exact_at_every_level(text: str):
    module = parse(text)
    same_text(module)
    for step in (*pipeline(1), LowerToBytecodePass()):
        step.apply(context(), module)
        if isinstance(step, VerifyStagePass | LowerToBytecodePass):
            same_text(module)


@exactly(10)
@given(programs())
def test_planning_again_changes_nothing(text: str):
    module = parse(text)
    InferTypesPass().apply(context(), module)
    PlanDevicesPass().apply(context(), module)
    planned = printed(module)
    PlanDevicesPass(default="cuda:1").apply(context(), module)
    assert printed(module) == planned
