"""Random programs: their text is exact at every level, and every level computes the same."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import context, parameter_types, parse, printed, programs
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.lowering.assemble import assemble
from xrelay.lowering.disassemble import disassemble
from xrelay.lowering.lower_to_bytecode import LowerToBytecodePass
from xrelay.passes.evaluation.evaluator import evaluate
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
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.memory import Memory
from xrelay.runtime.machine import Machine

Array = npt.NDArray[Any]


def exactly(examples: int) -> Any:
    """Use the same examples in each run."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


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


def inputs(module: ModuleOp, seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [
        rng.uniform(-2, 2, type.get_shape()).astype(np.float32) for type in parameter_types(module)
    ]


def same_text(module: ModuleOp) -> None:
    """Check that the custom and the generic text are read back as the module."""
    for generic in (False, True):
        text = printed(module, generic)
        again = parse(text)
        verify(again)
        assert printed(again, generic) == text
        assert again.is_structurally_equivalent(module)


def same_values(found: list[Array], wanted: list[Array], after: str) -> None:
    assert len(found) == len(wanted), after
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype, after
        np.testing.assert_array_equal(a, b, err_msg=after)


def arrays(values: list[Any]) -> Iterator[Array]:
    for value in values:
        if isinstance(value, tuple):
            yield from arrays(list(value))  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield np.asarray(value)


@exactly(60)
@given(programs(), st.integers(0, 1))
def test_every_level_computes_the_same(text: str, level: int):
    module = parse(text)
    verify(module)
    args = inputs(module, len(text))
    wanted = list(arrays(evaluate(module, args)))
    for step in pipeline(level):
        step.apply(context(), module)
        verify(module)
        if not isinstance(step, VerifyStagePass):
            memory = Memory(poison=True)  # a kill poisons the bytes
            found = list(arrays(evaluate(module, args, memory=memory)))
            same_values(found, wanted, step.name)
    LowerToBytecodePass().apply(context(), module)
    VerifyStagePass("bytecode").apply(context(), module)
    verify(module)
    program = assemble(module)
    machine = Machine(program, kernels=KERNELS, memory=Memory(poison=True))
    for run in ("first", "second"):  # the second takes the path that the first recorded
        same_values(machine.run("main", *args), wanted, f"{run} run")
    again = Machine(assemble(disassemble(program)), kernels=KERNELS, memory=Memory(poison=True))
    same_values(again.run("main", *args), wanted, "disassembled")


@exactly(12)
@given(programs())
def test_text_is_exact_at_every_level(text: str):
    module = parse(text)
    same_text(module)
    for step in (*pipeline(1), LowerToBytecodePass()):
        step.apply(context(), module)
        if isinstance(step, VerifyStagePass | LowerToBytecodePass):
            same_text(module)


@exactly(40)
@given(programs())
def test_planning_again_changes_nothing(text: str):
    module = parse(text)
    InferTypesPass().apply(context(), module)
    PlanDevicesPass().apply(context(), module)
    planned = printed(module)
    PlanDevicesPass(default="cuda:1").apply(context(), module)
    assert printed(module) == planned
