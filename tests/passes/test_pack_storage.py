"""`pack-storage`, `coalesce-storage` and `layout-slices` keep what programs compute."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.programs.programs import context, parameter_types, parse, printed, programs
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from passes.test_manifest_lifetimes import modules
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.dialects import memory
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.lower_to_bytecode import LowerToBytecodePass
from xrelay.passes.coalesce_storage import CoalesceStoragePass
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.fold_constants import FoldConstantsPass
from xrelay.passes.fuse_ops import FuseOpsPass
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.layout_slices import LayoutSlicesPass, plan_of, problem_of
from xrelay.passes.manifest_alloc import ManifestAllocPass
from xrelay.passes.manifest_lifetimes import ManifestLifetimesPass
from xrelay.passes.outline_primitives import OutlinePrimitivesPass
from xrelay.passes.pack_storage import PackStoragePass
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.remove_dead_writes import RemoveDeadWritesPass
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass
from xrelay.planning import check
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory

Array = npt.NDArray[Any]


def inputs(module: ModuleOp, seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [
        rng.uniform(-2, 2, type.get_shape()).astype(np.float32) for type in parameter_types(module)
    ]


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


def to_manifest() -> list[ModulePass]:
    """The passes to `manifest`."""
    return [
        InferTypesPass(),
        FoldConstantsPass(),
        PlanDevicesPass(),
        FuseOpsPass(),
        OutlinePrimitivesPass(),
        ManifestAllocPass(),
        RemoveDeadWritesPass(),
    ]


def packs(module: ModuleOp) -> list[memory.Packing]:
    return [memory.Packing(op) for op in walk(module) if isinstance(op, memory.PackOp)]


def assert_plans_are_valid(module: ModuleOp) -> None:
    for op in packs(module):
        assert check(problem_of(op), plan_of(op, "auto")) == []


PLANNERS: list[ModulePass] = [PackStoragePass(), CoalesceStoragePass()]


def apply(module: ModuleOp, step: ModulePass) -> None:
    step.apply(context(), module)
    verify(module)


def planned(module: ModuleOp, planner: ModulePass, kills_first: bool) -> list[ModuleOp]:
    """Plan `module`; return it with packs, with offsets, and with kills."""
    found: list[ModuleOp] = []
    if kills_first:
        apply(module, ManifestLifetimesPass())
    apply(module, planner)
    assert_plans_are_valid(module)
    found.append(module.clone())
    apply(module, LayoutSlicesPass())
    assert packs(module) == []
    found.append(module.clone())
    if not kills_first:
        apply(module, ManifestLifetimesPass())
    VerifyStagePass("memory-planned").apply(context(), module)
    found.append(module)
    return found


def same_in_machine(
    module: ModuleOp, calls: Sequence[Sequence[Any]], wanted: Sequence[list[Any]]
) -> None:
    """Compare the results of `calls`, each made twice in one machine, with those wanted."""
    lowered = module.clone()
    apply(lowered, LowerToBytecodePass())
    machine = Machine(assemble(lowered), kernels=KERNELS, memory=Memory(poison=True))
    for args, expected in zip(calls, wanted, strict=True):
        for run in ("first", "second"):
            found = list(arrays(machine.run("main", *args)))
            same_values(found, list(arrays(expected)), f"{run} run")


@pytest.mark.parametrize("planner", PLANNERS, ids=lambda planner: planner.name)
@exactly(10)
@given(text=programs(), kills_first=st.booleans())
def test_planned_programs_compute_the_same(planner: ModulePass, text: str, kills_first: bool):
    module = parse(text)
    args = inputs(module, len(text))
    wanted = list(arrays(evaluate(module, args)))
    for step in to_manifest():
        step.apply(context(), module)
    for stage in planned(module, planner, kills_first):
        found = list(arrays(evaluate(stage, args, memory=Memory(poison=True))))
        same_values(found, wanted, planner.name)
    same_in_machine(module, [args], [wanted])


@pytest.mark.parametrize("planner", PLANNERS, ids=lambda planner: planner.name)
@exactly(10)
@given(text=modules(), kills_first=st.booleans())
def test_calls_branches_tuples_and_views(planner: ModulePass, text: str, kills_first: bool):
    module = parse(text)
    x, y = np.arange(4, dtype=np.float32), np.array([1, -1, 2, 0.25], np.float32)
    cases = [[np.array(a), np.array(b), x, y] for a, b in product([False, True], repeat=2)]
    wanted = [evaluate(module, args) for args in cases]
    stages = planned(module, planner, kills_first)
    again = printed(module)
    planner.apply(context(), module)
    LayoutSlicesPass().apply(context(), module)
    assert printed(module) == again, "planning again changes nothing"
    for args, expected in zip(cases, wanted, strict=True):
        for stage in stages:
            copies = [arg.copy() for arg in args]
            found = evaluate(stage, copies, memory=Memory(poison=True))
            np.testing.assert_equal(found, expected)
            np.testing.assert_equal(copies, args)
    same_in_machine(module, cases, wanted)
