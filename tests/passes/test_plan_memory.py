"""`plan-memory`: a program that is planned again is unchanged, a plan needs a proof."""

from random import Random

from helpers.machine.in_machine import run_passes
from helpers.programs.dynamic_programs import DynamicProgram, dynamic_programs, inferred
from helpers.programs.hinted_relay_programs import RelayProgram
from helpers.programs.programs import assert_same
from helpers.programs.random_settings import exactly
from helpers.relay.relay_programs import read
from hypothesis import Phase, assume, given
from hypothesis import strategies as st
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
    once = module.clone()
    run_passes(module, PLAN)
    assert_same(module, once)


@exactly(10, phases=[Phase.generate])
@given(dynamic_programs())
def test_tensors(program: DynamicProgram):
    assert_second_plan_changes_nothing(inferred(program))


@exactly(10, phases=[Phase.generate])
@given(st.randoms(use_true_random=False), st.booleans())
def test_data_and_functions(rng: Random, is_open: bool):
    assert_second_plan_changes_nothing(read(RelayProgram(rng, is_open).text))


OPEN = """
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) -> tensor<?x4xf32> {
  %a = relay.nn.softmax %x {axis = 1 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relay.nn.softmax %y {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %c = relay.sum %b {keepdims = false} : (tensor<?x3xf32>) -> tensor<f32>
  %d = relay.nn.softmax %a {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %e = relay.add %a, %c : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %f = relay.nn.softmax %e {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %g = relay.concatenate %d, %f {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %g : tensor<?x4xf32>
}
"""  # noqa: E501
