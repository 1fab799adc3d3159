"""
Planned programs compute what programs do whose tensors each have memory of their own.

The programs have branches, matches, recursion, closures, references, tuples, lists, views, and
tensors of open sizes; some are functions that lend each other memory. Each is compiled without a
plan or views of slices, and with one of random options: the machine runs both on poisoned memory,
the planned one under `sanitize`, too, and with all dead bytes overwritten.
`XRELAY_RANDOM_PROGRAMS=5000 pytest …` tries that many other programs.
"""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from helpers.machine.in_machine import machine_of, run_passes
from helpers.programs.agreement import Array, Outcome, flat, plan_options, quiet, same
from helpers.programs.dynamic_programs import arguments
from helpers.programs.hinted_relay_programs import RelayProgram
from helpers.programs.programs import parse
from helpers.programs.programs_with_calls import ProgramWithCalls
from helpers.programs.random_settings import exactly
from helpers.programs.sliced_programs import SlicedProgram
from helpers.relay.relay_programs import read
from hypothesis import event, given
from hypothesis import strategies as st
from test_random_programs_at_every_level import NOT_REPAIRED, saved
from xdsl.dialects.builtin import ModuleOp

from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import PLAN, VmPipeline
from xrelay.operators.sizes import SignatureError
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine

REPAIRED = "plan-devices{default=cuda:0 repair=true}"
COPYING, PLANNED = (
    VmPipeline(memory).text.replace("plan-devices", REPAIRED) for memory in ("none", "plan")
)
UNPLANNED = COPYING.replace("view-slices,", "").replace("join-tensors,", "")
OVERWRITE = "overwrite-dead-bytes,verify-memory-plan"
FLAGS = (np.array(True), np.array(False))


def outcome(machine: Machine, args: Sequence[Array]) -> Outcome:
    try:
        return flat(machine.run("main", *args))
    except MachineError as error:
        return str(error)


def check_plan(module: ModuleOp, options: str, calls: Sequence[Sequence[Array]]) -> None:
    """Compare the calls of `module` without a plan and with a plan of `options`."""
    InferTypesPass().apply(quiet(), module)
    verify(module)
    passes = PLANNED.replace(PLAN, f"plan-memory{options}")
    with saved(module, passes, calls):
        unplanned, planned = module.clone(), module.clone()
        try:
            run_passes(unplanned, UNPLANNED)
        except PassError as error:
            # Sizes that are known by now and do not fit are the program's own fault.
            if NOT_REPAIRED.search(str(error)) or isinstance(error.__cause__, SignatureError):
                return event("refused")
            raise
        event("compared")
        run_passes(planned, passes)
        overwriting = module.clone()
        run_passes(overwriting, passes.replace(",expand-packs", f",{OVERWRITE},expand-packs"))
        program = assemble(planned)
        reference = machine_of(assemble(unplanned))
        expected = [outcome(reference, args) for args in calls]
        for machine in (
            machine_of(program),
            machine_of(program, sanitize=True),
            machine_of(assemble(overwriting)),
        ):
            for i, args in [*enumerate(calls)] * 2:  # the second time along the recorded path
                same(outcome(machine, args), expected[i], f"call {i}")


@exactly(60, 16)
@given(st.randoms(use_true_random=False), st.booleans(), plan_options("plan-memory"))
def test_programs_with_data_and_functions(rng: Random, is_open: bool, options: str):
    module = read(RelayProgram(rng, is_open).text)
    sizes = [(4, 4), (rng.randrange(6), rng.randrange(6))] if is_open else [(4, 4)]
    calls = [[flag, *arguments([(n,), (m,)])] for flag in FLAGS for n, m in sizes]
    check_plan(module, options, calls)


@exactly(40, 16)
@given(st.randoms(use_true_random=False), st.booleans(), st.booleans(), plan_options("plan-memory"))
def test_functions_that_lend_memory(rng: Random, is_open: bool, has_devices: bool, options: str):
    module = parse(ProgramWithCalls(rng, is_open, has_devices).text)
    rows = [8, rng.randrange(6)] if is_open else [8]
    calls = [[*arguments([(n, 4), (n, 4)]), flag] for flag in FLAGS for n in rows]
    check_plan(module, options, calls)


@st.composite
def pools(draw: st.DrawFn) -> str:
    """Up to three pools of the host and of another device, the last ones without a bound."""
    found: list[str] = []
    for device in ("", "cuda:0/"):
        for number in range(draw(st.integers(0, 2))):
            capacity, cost = draw(st.integers(0, 400)), draw(st.integers(1, 5))
            found.append(
                f"{device}fast{number}={capacity}:{cost}:{draw(st.sampled_from([1, 128]))}"
            )
        found.append(f"{device}slow=:10")
    return ",".join(found)


@exactly(20)
@given(
    st.randoms(use_true_random=False),
    st.booleans(),
    pools(),
    st.sampled_from(("cost", "heights")),
    st.booleans(),
)
@pytest.mark.ci
def test_programs_in_pools(rng: Random, is_open: bool, given: str, minimize: str, has_data: bool):
    options = f'{{pools="{given}" minimize={minimize}}}'
    if has_data:
        sizes = [(4, 4), (rng.randrange(6), rng.randrange(6))] if is_open else [(4, 4)]
        calls = [[flag, *arguments([(n,), (m,)])] for flag in FLAGS for n, m in sizes]
        return check_plan(read(RelayProgram(rng, is_open).text), options, calls)
    rows = [8, rng.randrange(6)] if is_open else [8]
    calls = [[*arguments([(n, 4), (n, 4)]), flag] for flag in FLAGS for n in rows]
    check_plan(parse(ProgramWithCalls(rng, is_open, True).text), options, calls)


@exactly(40)
@given(st.randoms(use_true_random=False), st.booleans(), plan_options("plan-memory"))
@pytest.mark.ci
def test_slices_and_joins_that_are_views(rng: Random, is_open: bool, options: str):
    module = parse(SlicedProgram(rng, is_open).text)
    rows = [8, rng.randrange(12), rng.randrange(3)] if is_open else [8]
    calls = [[*arguments([(n, 4), (4, 4)])] for n in rows]
    check_plan(module, options, calls)
