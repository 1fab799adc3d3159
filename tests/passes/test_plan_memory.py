"""`plan-memory` on random programs: a planned program that is planned again is unchanged."""

from random import Random
from typing import Any

from dynamic_programs import DynamicProgram, dynamic_programs
from hinted_relay_programs import RelayProgram
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from in_machine import run_passes
from programs import printed
from relay_programs import read
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import VerifyError

TO_MANIFEST = (
    VmPipeline()
    .text.partition(",plan-memory")[0]
    .replace("plan-devices", "plan-devices{default=cuda:0 repair=true}")
)
PLAN = "plan-memory{verify=false}"
"""The plan of each program is verified elsewhere, together with its results."""


def exactly(examples: int) -> Any:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def assert_second_plan_changes_nothing(module: ModuleOp) -> None:
    try:
        run_passes(module, TO_MANIFEST)
    except (PassError, VerifyError, VerifyException):
        assume(False)
    run_passes(module, PLAN)
    once = printed(module)
    run_passes(module, PLAN)
    assert printed(module) == once


@exactly(40)
@given(dynamic_programs())
def test_tensors(program: DynamicProgram):
    assert_second_plan_changes_nothing(program.at_open())


@exactly(40)
@given(st.randoms(use_true_random=False), st.booleans())
def test_data_and_functions(rng: Random, is_open: bool):
    assert_second_plan_changes_nothing(read(RelayProgram(rng, is_open).text))
