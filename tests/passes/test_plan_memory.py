"""`plan-memory` on random programs: a planned program that is planned again is unchanged."""

from random import Random

from dynamic_programs import DynamicProgram, dynamic_programs
from hinted_relay_programs import RelayProgram
from hypothesis import Phase, assume, given
from hypothesis import strategies as st
from in_machine import run_passes
from programs import printed
from random_settings import exactly
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


def assert_second_plan_changes_nothing(module: ModuleOp) -> None:
    try:
        run_passes(module, TO_MANIFEST)
    except (PassError, VerifyError, VerifyException):
        assume(False)
    run_passes(module, PLAN)
    once = printed(module)
    run_passes(module, PLAN)
    assert printed(module) == once


@exactly(40, phases=[Phase.generate])
@given(dynamic_programs())
def test_tensors(program: DynamicProgram):
    assert_second_plan_changes_nothing(program.at_open())


@exactly(40, phases=[Phase.generate])
@given(st.randoms(use_true_random=False), st.booleans())
def test_data_and_functions(rng: Random, is_open: bool):
    assert_second_plan_changes_nothing(read(RelayProgram(rng, is_open).text))
