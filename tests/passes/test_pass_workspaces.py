"""Programs whose callers allocate what functions compute in give the same results."""

from random import Random

import numpy as np
import pytest
from helpers.machine.in_machine import machine_of
from helpers.programs.agreement import Array, agree, quiet
from helpers.programs.programs import parse
from helpers.programs.programs_with_calls import ProgramWithCalls
from helpers.programs.random_settings import rounds
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects import memory
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.support.verifier import verify
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines

TO_MANIFEST = (
    "infer-types,dynamic-to-static,infer-types,plan-devices{default=cpu:0 repair=true},"
    "share-device-copies,lambda-lift,remove-unused-functions,fuse-ops,outline-primitives,"
    "create-shape-functions,manifest-alloc,simplify-shapes,remove-dead-writes,"
    "remove-unused-kernels,verify-stage{stage=manifest}"
)
TO_BYTECODE = "manifest-lifetimes,expand-packs,verify-stage{stage=expanded},lower-to-bytecode"
PLANS = (
    "pass-workspaces,pack-storage,layout-slices,verify-memory-plan",
    "pass-workspaces,coalesce-storage,layout-slices",
    "pass-workspaces,simplify-shapes,remove-dead-writes,eliminate-dead-code,pack-storage,"
    "simplify-shapes,cse,layout-slices",
    "pass-workspaces,layout-slices",
)


def run(module: ModuleOp, passes: str) -> None:
    for step in build(passes, UNIVERSE.all_passes, named_pipelines):
        step.run.apply(quiet(), module)
        verify(module)


def arguments(rng: Random, is_open: bool) -> list[Array]:
    made = np.random.default_rng(rng.randrange(1 << 30))
    rows = [made.integers(0, 4) if is_open else 8 for _ in range(2)]
    tensors = [made.uniform(-1, 1, (n, 4)).astype(np.float32) for n in rows]
    return [*tensors, np.array(rng.random() < 0.5)]


def storages_lent(module: ModuleOp) -> int:
    """Return the number of storages that functions take as parameters."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    inputs = [type for f in functions for type in f.function_type.inputs]
    return sum(isinstance(type, memory.StorageType) for type in inputs)


@pytest.mark.parametrize("seed", range(rounds(24)))
def test_random_programs(seed: int):
    """The memory of the evaluator and the machine is poisoned."""
    rng = Random(seed)
    is_open = bool(seed % 2)
    module = parse(ProgramWithCalls(rng, is_open, seed % 3 == 0).text)
    calls = [arguments(rng, is_open) for _ in range(3 if is_open else 2)]
    agree(module, f"{TO_MANIFEST},{PLANS[seed % len(PLANS)]},{TO_BYTECODE}", calls)


def test_random_programs_lend_storages():
    """The test above tests something."""
    lent = 0
    for seed in range(rounds(24)):
        module = parse(ProgramWithCalls(Random(seed), bool(seed % 2)).text)
        run(module, f"{TO_MANIFEST},pass-workspaces")
        lent += storages_lent(module)
    assert lent > rounds(24)


@pytest.mark.parametrize("seed", range(0, rounds(24), 2))
def test_one_allocation_per_call(seed: int):
    """The machine allocates one arena, and the results of main (it cannot tell fields apart)."""
    rng = Random(seed)
    module = parse(ProgramWithCalls(rng, False, has_tuples=False).text)
    run(module, f"{TO_MANIFEST},pass-workspaces,pack-storage,layout-slices,{TO_BYTECODE}")
    machine = machine_of(assemble(module))
    machine.run("main", *arguments(rng, False))
    assert machine.counters.allocations[0] <= 3


@pytest.mark.parametrize("seed", range(rounds(12)))
def test_callers_from_outside_lend_all_memory(seed: int):
    """The plan is proved, and of static programs nothing is allocated within a call."""
    is_open = bool(seed % 2)
    module = parse(ProgramWithCalls(Random(seed), is_open).text)
    run(module, f"{TO_MANIFEST},plan-memory{{lend-entries}}")
    if not is_open:
        assert storages_lent(module)
        assert not [op for op in module.walk() if isinstance(op, memory.AllocStorageOp)]
