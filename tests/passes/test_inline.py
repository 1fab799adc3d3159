"""Inlining: programs compute the same, recursion stays, and copies are bounded."""

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

from xrelay.passes import inline
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.functions.symbols import CallGraph
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.inline import InlinePass
from xrelay.passes.lambda_lift import LambdaLiftPass
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.remove_unused_functions import RemoveUnusedFunctionsPass
from xrelay.passes.support.diagnostics import PassError, ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass


def quiet() -> ReportingContext:
    ctx = context()
    ctx.handler = lambda message: None
    return ctx


def lifted(text: str, is_planned: bool) -> ModuleOp | None:
    """The module of `text` without closures; None if it cannot be planned."""
    module = read(text)
    InferTypesPass().apply(quiet(), module)
    try:
        if is_planned:
            PlanDevicesPass(default="cuda:0", repair=True).apply(quiet(), module)
    except PassError:
        return None
    LambdaLiftPass().apply(quiet(), module)
    return module


@pytest.mark.parametrize("is_planned", [True, False])
@given(rng=st.randoms(use_true_random=False), max_ops=st.integers(0, 20), once=st.booleans())
@exactly(10)
def test_random_programs_compute_the_same(is_planned: bool, rng: Random, max_ops: int, once: bool):
    module = lifted(RelayProgram(rng).text, is_planned)
    if module is None:
        return
    expected = evaluate(module, inputs())
    InlinePass(max_ops=max_ops, once=once).apply(quiet(), module)
    verify(module)
    np.testing.assert_array_equal(evaluate(module, inputs()), expected)
    RemoveUnusedFunctionsPass(("main",)).apply(quiet(), module)
    verify(module)
    np.testing.assert_array_equal(evaluate(module, inputs()), expected)
    if is_planned:
        VerifyStagePass("planned").apply(quiet(), module)
        plan = module.clone()
        PlanDevicesPass(default="cuda:1").apply(quiet(), module)
        assert_same(module, plan)


def test_inlining_marked_functions_again_changes_nothing():
    module = read(
        "def @f(%x: float32, Inline=1) { exp(%x) }"
        "def @g(%x: float32, Inline=1) { @f(@f(%x)) }"
        "def @main(%x: float32) { @g(%x) + @f(%x) }"
    )
    InlinePass().apply(quiet(), module)
    text = str(module)
    assert text.count("call") == 0
    InlinePass().apply(quiet(), module)
    assert str(module) == text


def doubling(depth: int) -> str:
    """Each function calls the one before twice."""
    functions = [
        f"def @f{i}(%x: float32, Inline=1) {{ @f{i - 1}(%x) + @f{i - 1}(%x) }}"
        for i in range(1, depth)
    ]
    return "\n".join(["def @f0(%x: float32, Inline=1) { exp(%x) }", *functions])


def test_copies_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(inline, "MAX_COPIED", 2000)
    module = read(doubling(60))
    with pytest.raises(PassError, match="inlining copies more than 2000 ops; do not inline @f"):
        InlinePass().apply(quiet(), module)


def graph(named: dict[str, list[str]]) -> CallGraph:
    return CallGraph({}, named, [], {})


def test_components_come_after_what_they_reach():
    found = graph({"a": ["b"], "b": ["c", "d"], "c": ["b"], "d": [], "e": ["e"]})
    assert found.components() == [["d"], ["b", "c"], ["a"], ["e"]]
    assert found.recursive() == {"b", "c", "e"}
    assert found.reachable(["b"]) == {"b", "c", "d"}


@given(st.integers(1, 12), st.data())
@exactly(100)
def test_components_of_random_graphs(size: int, data: st.DataObject):
    names = [str(i) for i in range(size)]
    targets = st.lists(st.sampled_from(names), max_size=4, unique=True)
    found = graph({name: data.draw(targets) for name in names})
    reach = {name: found.reachable(found.named[name]) for name in names}
    assert found.recursive() == {name for name in names if name in reach[name]}
    seen: set[str] = set()
    for component in found.components():
        first = component[0]
        assert set(component) == {first} | {n for n in reach[first] if first in reach[n]}
        seen |= set(component)
        assert reach[first] <= seen
    assert seen == set(names)


def test_long_chains_of_calls():
    names = [str(i) for i in range(5000)]
    found = graph({a: [b] for a, b in zip(names, [*names[1:], names[0]], strict=True)})
    assert len(found.recursive()) == 5000
