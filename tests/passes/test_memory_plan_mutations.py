"""
Plans with a random fault: what `verify-memory-plan` accepts still computes the same.

The faults are those of `plan_faults`. Memory is poisoned where it is free.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import pytest
from helpers.machine.in_machine import run_passes
from helpers.memory.plan_faults import (
    FAULTS,
    PACK_FAULTS,
    PLANS,
    Calls,
    Fault,
    check_program_with_data,
    check_programs_of_tensors,
)
from helpers.programs.agreement import Outcome, evaluated, quiet
from helpers.programs.programs import parse
from helpers.programs.programs_with_calls import ProgramWithCalls
from helpers.programs.random_settings import OTHER, rounds
from passes.test_pass_workspaces import TO_MANIFEST, arguments
from passes.test_sanitized_plans import agrees
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import memory
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.passes import layout_slices
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass
from xrelay.planning.unknown_sizes import choice

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
    check_planned(module, FAULTS, [*FAULTS], FAULTS_PER_PROGRAM, rng, calls, count)


def check_planned(
    module: ModuleOp,
    faults: Mapping[str, Fault],
    kinds: Sequence[str],
    rounds: int,
    rng: Random,
    calls: Calls,
    count: Counter[str],
) -> None:
    """Check that a plan is accepted, and with one of the faults refused, or as good."""
    assert is_accepted(module), "a right plan"
    wanted = outcomes(module, calls)
    for _ in range(rounds):
        faulty = module.clone()
        name = rng.choice(kinds)
        if not faults[name](rng, list(walk(faulty))):
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


ORDERED = [plan for plan in PLANS if "layout-slices" in plan]


@pytest.mark.parametrize("seed", range(OTHER or rounds(80, 80)))
def test_faults_in_orders(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Wrong orders, lifetimes, kills, slices and sizes; packs have all orders that may help."""
    monkeypatch.setattr(layout_slices, "SLACK", 0)
    monkeypatch.setattr(choice, "GOOD_ENOUGH", 1.0)
    rng, count = Random(f"orders {seed} {OTHER}"), Counter[str]()
    module = parse(ProgramWithCalls(rng, True).text)
    run_passes(module, TO_MANIFEST)
    calls = [arguments(rng, True) for _ in range(3)]
    run_passes(module, rng.choice(ORDERED))
    packs = [op for op in walk(module) if isinstance(op, memory.PackOp) and op.orders is not None]
    if packs:
        count["several orders"] += sum(op.n_orders > 1 for op in packs)
        kinds = [*PACK_FAULTS] * 3 + [*FAULTS]
        check_planned(module, {**PACK_FAULTS, **FAULTS}, kinds, 12, rng, calls, count)
    TOTAL.update(count)
    if OTHER and seed == OTHER - 1:
        print(dict(sorted(TOTAL.items())))


TOTAL = Counter[str]()
"""What came of all faults in orders, which long runs print."""


@pytest.mark.parametrize("seed", range(OTHER or rounds(8)))
def test_faults_in_programs_with_data_and_functions(seed: int):
    check_program_with_data(Random(f"{seed} {OTHER}"), check_faults)


def test_faults_in_programs_of_tensors():
    count = check_programs_of_tensors(check_faults)
    assert_many_are_refused(count)
