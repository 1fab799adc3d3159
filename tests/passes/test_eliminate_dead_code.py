"""Dead code: programs compute the same, as much goes as with `dce`, and nothing is left."""

from random import Random

import numpy as np
import pytest
from helpers.programs.hinted_relay_programs import RelayProgram, inputs
from helpers.programs.programs import assert_same
from helpers.programs.random_settings import exactly
from helpers.relay.relay_programs import context, read
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.dead_code_elimination import DeadCodeElimination, is_trivially_dead

from xrelay.passes.eliminate_dead_code import EliminateDeadCodePass
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.lambda_lift import LambdaLiftPass
from xrelay.passes.support.verifier import verify


def cleaned(module: ModuleOp) -> ModuleOp:
    """Remove dead code, and check that nothing more can be removed, with `dce` neither."""
    EliminateDeadCodePass().apply(context(), module)
    verify(module)
    assert not [op.name for op in module.walk() if is_trivially_dead(op)]
    once = module.clone()
    EliminateDeadCodePass().apply(context(), module)
    assert_same(module, once)
    DeadCodeElimination().apply(context(), module)
    assert_same(module, once)
    return module


@pytest.mark.parametrize("is_lifted", [True, False])
@given(rng=st.randoms(use_true_random=False))
@exactly(15)
def test_random_programs_compute_the_same(is_lifted: bool, rng: Random):
    module = read(RelayProgram(rng).text)
    InferTypesPass().apply(context(), module)
    if is_lifted:
        LambdaLiftPass().apply(context(), module)
    expected = evaluate(module, inputs())
    np.testing.assert_array_equal(evaluate(cleaned(module), inputs()), expected)


def test_writes_into_references_stay():
    module = read(
        "def @set(%r: ref(int32)) -> int32 { ref_write(%r, 7); 0 }"
        "def @main() -> int32 { let %r = ref(1); let %unused = @set(%r); ref_read(%r) }"
    )
    assert evaluate(cleaned(module), []) == [7]


def test_unused_calls_of_lifted_closures_go():
    module = read(
        "def @main(%x: int32) -> int32 {"
        " let %f = fn (%a: int32, %b: int32) { %a * %x };"
        " let %unused = %f(%x, %x);"
        " %f(%x, negative(%x)) }"
    )
    InferTypesPass().apply(context(), module)
    LambdaLiftPass().apply(context(), module)
    cleaned(module)
    assert str(module).count("call @main_f(%x, %x) : (tensor<i32>, tensor<i32>)") == 1
    assert "relay.negative" not in str(module)
