"""
Programs with data, matches, closures and references compute in the machine what they evaluate to.
"""

from random import Random
from typing import Any

import numpy as np
import pytest
from hinted_relay_programs import RelayProgram, inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from in_machine import compiled, machine_of
from relay_programs import read

from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError
from xrelay.runtime.machine import Machine
from xrelay.runtime.paths import Kept, Object, State
from xrelay.runtime.program import Program

REPAIRED = "plan-devices{default=cuda:0 repair=true},"
"""Conflicts of devices become copies; the pipeline plans again, which changes nothing."""


@given(st.integers(0, 1 << 32), st.sampled_from(["vm", "vm-planned"]))
@settings(max_examples=100, deadline=None)
def test_random_programs(seed: int, pipeline: str):
    """Both branches of conditions run, each twice: recording its path, and on the path."""
    text = RelayProgram(Random(seed)).text
    try:
        program = compiled(read(text), REPAIRED + pipeline)
    except PassError:
        return  # a conflict that copies cannot repair
    found = machine_of(program)
    _, *arrays = inputs()
    for flag in (True, False, True, False):
        args = [np.array(flag), *arrays]
        (wanted,) = evaluate(read(text), args)
        (result,) = found.run("main", *args)
        np.testing.assert_array_equal(result, wanted, err_msg=text)
    if "ref(" not in text:  # what a reference held counts as live
        assert_peak_is_exact(program, found, arrays)


def assert_peak_is_exact(program: Program, found: Machine, arrays: list[Any]) -> None:
    """Check the machine's count of live bytes against one that visits what each call returns."""
    take_over = State.receive

    def visit(state: State, register: int, result: Object, kept: Kept | None) -> None:
        take_over(state, register, result, None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(State, "receive", visit)
        other = machine_of(program)
        for flag in (True, False):
            other.run("main", np.array(flag), *arrays)
    assert found.counters.peak == other.counters.peak
