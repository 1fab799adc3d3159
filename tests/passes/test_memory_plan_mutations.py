"""
Plans with a random fault: what `verify-memory-plan` accepts still computes the same.

The faults are those of `plan_faults`. Memory is poisoned where it is free.
"""

from collections import Counter
from random import Random

import pytest
from helpers.machine.in_machine import run_passes
from helpers.memory.plan_faults import (
    FAULTS,
    Calls,
    check_program_with_data,
    check_programs_of_tensors,
)
from helpers.programs.agreement import Outcome, evaluated, quiet
from helpers.programs.random_settings import OTHER, rounds
from passes.test_sanitized_plans import agrees
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass

FAULTS_PER_PROGRAM = 6


def outcomes(module: ModuleOp, calls: Calls) -> list[Outcome]:
    return [evaluated(module, args) for args in calls]


def is_accepted(module: ModuleOp) -> bool | None:
    """Test whether a plan is accepted; None if the module is not valid at all."""
    try:
        verify(module)
    except (VerifyException, PassError):
        return None
    try:
        VerifyMemoryPlanPass().apply(quiet(), module)
    except PassError:
        return False
    return True


def check_faults(
    module: ModuleOp, plan: str, rng: Random, calls: Calls, count: Counter[str]
) -> None:
    run_passes(module, plan)
    assert is_accepted(module), "a right plan"
    wanted = outcomes(module, calls)
    for _ in range(FAULTS_PER_PROGRAM):
        faulty = module.clone()
        name = rng.choice(list(FAULTS))
        if not FAULTS[name](rng, list(walk(faulty))):
            continue
        accepted = is_accepted(faulty)
        count[f"{name}: {accepted}"] += 1
        if accepted:
            for found, right in zip(outcomes(faulty, calls), wanted, strict=True):
                agrees(found, right, f"after {name}, which was accepted", faulty)


def assert_many_are_refused(count: Counter[str]) -> None:
    """Check that a large share of the faults is refused, and some of each kind."""
    refused = sum(n for name, n in count.items() if name.endswith("False"))
    accepted = sum(n for name, n in count.items() if name.endswith("True"))
    assert refused > 0.25 * (refused + accepted), count
    for name in FAULTS:
        assert count[f"{name}: True"] < 20 or count[f"{name}: False"], count


@pytest.mark.parametrize("seed", range(OTHER or rounds(8)))
def test_faults_in_programs_with_data_and_functions(seed: int):
    check_program_with_data(Random(f"{seed} {OTHER}"), check_faults)


def test_faults_in_programs_of_tensors():
    count = check_programs_of_tensors(check_faults)
    assert_many_are_refused(count)
