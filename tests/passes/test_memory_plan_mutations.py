"""
Plans with a random fault: what `verify-memory-plan` accepts still computes the same.

The faults are those of `plan_faults`. Memory is poisoned where it is free.
"""

from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from agreement import Array, Outcome, evaluated, quiet, same
from dynamic_programs import DynamicProgram, dynamic_programs, inferred
from hinted_relay_programs import RelayProgram
from hypothesis import Phase, given
from hypothesis import strategies as st
from in_machine import run_passes
from plan_faults import FAULTS, PLANS, TO_MANIFEST
from random_settings import OTHER, exactly
from relay_programs import read
from test_random_programs_at_every_level import arguments
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.walking import walk
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass

FAULTS_PER_PROGRAM = 6


def outcomes(module: ModuleOp, calls: Sequence[Sequence[Array]]) -> list[Outcome]:
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
    module: ModuleOp, plan: str, rng: Random, calls: Sequence[Sequence[Array]], count: Counter[str]
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
                same(found, right, f"after {name}, which was accepted:\n{faulty}")


def assert_many_are_refused(count: Counter[str]) -> None:
    """Check that a large share of the faults is refused, and some of each kind."""
    refused = sum(n for name, n in count.items() if name.endswith("False"))
    accepted = sum(n for name, n in count.items() if name.endswith("True"))
    assert refused > 0.25 * (refused + accepted), count
    for name in FAULTS:
        assert count[f"{name}: True"] < 20 or count[f"{name}: False"], count


@pytest.mark.parametrize("seed", range(OTHER or 8))
def test_faults_in_programs_with_data_and_functions(seed: int):
    rng = Random(f"{seed} {OTHER}")
    module = read(RelayProgram(rng, True).text)
    try:
        InferTypesPass().apply(quiet(), module)
        run_passes(module, TO_MANIFEST)
    except PassError:  # shapes that do not fit, or devices
        return
    calls = [
        [np.array(flag), *arguments([(n,), (m,)])]
        for flag, n, m in ((True, 4, 4), (False, 3, 5), (True, 1, 2))
    ]
    check_faults(module, rng.choice(PLANS), rng, calls, Counter())


def test_faults_in_programs_of_tensors():
    count = Counter[str]()

    @exactly(20, phases=[Phase.generate])
    @given(dynamic_programs(), st.integers(0, 2**32))
    def check(program: DynamicProgram, seed: int) -> None:
        rng, module = Random(seed), inferred(program)
        try:
            run_passes(module, TO_MANIFEST)
        except (PassError, VerifyException):
            return
        calls = [arguments(shapes) for shapes in program.calls]
        check_faults(module, rng.choice(PLANS), rng, calls, count)

    check()
    if OTHER:
        print(dict(sorted(count.items())))
    assert_many_are_refused(count)
