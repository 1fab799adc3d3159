"""Lifting constants: programs compute the same, and lifting again changes nothing."""

from random import Random

import numpy as np
from helpers.programs.hinted_relay_programs import RelayProgram, inputs
from helpers.programs.programs import assert_same, parameter_types, parse, programs
from helpers.programs.programs import context as full_context
from helpers.programs.random_settings import exactly
from helpers.relay.relay_programs import read
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.interfaces import Rematerializable
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.lambda_lift import LambdaLiftPass
from xrelay.passes.lift_constants import LiftConstantsPass
from xrelay.passes.support.verifier import verify
from xrelay.passes.support.walk import outside_primitives
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.pass_run.pipeline import build

UNIVERSE = load_universe(lambda text: None)
LEVELS = ("infer-types", "plan-devices", "fuse-ops", "outline-primitives", "manifest-alloc")


def lifted(module: ModuleOp) -> ModuleOp:
    """Lift the constants of a copy of `module`, and check that nothing more can be done."""
    module = module.clone()
    LiftConstantsPass().apply(full_context(), module)
    verify(module)
    once = module.clone()
    LiftConstantsPass().apply(full_context(), module)
    assert_same(module, once)
    for function in module.ops:
        keys = [
            (op.name, *op.properties.values(), *op.attributes.values(), *op.result_types)
            for op in outside_primitives(function)
            if op.has_trait(Rematerializable, value_if_unregistered=False)
        ]
        assert len(set(keys)) == len(keys)
    return module


@given(programs())
@exactly(10)
def test_random_programs_compute_the_same_at_every_level(text: str):
    module = parse(text)
    rng = np.random.default_rng(len(text))
    args = [rng.uniform(-2, 2, t.get_shape()).astype(np.float32) for t in parameter_types(module)]
    expected = evaluate(module, args)
    for step in build(",".join(LEVELS), UNIVERSE.all_passes, dict):
        step.run.apply(full_context(), module)
        for found, wanted in zip(evaluate(lifted(module), args), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, step.run.name)


@given(rng=st.randoms(use_true_random=False))
@exactly(15)
def test_programs_with_branches_and_functions_compute_the_same(rng: Random):
    module = read(RelayProgram(rng).text)
    InferTypesPass().apply(full_context(), module)
    LambdaLiftPass().apply(full_context(), module)
    expected = evaluate(module, inputs())
    np.testing.assert_array_equal(evaluate(lifted(module), inputs()), expected)
