"""
Random programs with open dims, at other sizes than those for which their paths were recorded.

Templates must compute what the reference machine computes, bit for bit.
"""

from random import Random
from typing import Any

import pytest
from helpers.machine.in_machine import UNIVERSE, machine_of
from helpers.machine.reference_machine import ReferenceMachine
from helpers.programs.agreement import MEMORY, flat, quiet
from helpers.programs.dynamic_programs import DynamicProgram, arguments, dynamic_programs, inferred
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from xrelay.lowering.bytecode.assemble import assemble
from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program.program import Program
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import named_pipelines

CALLS = 12
"""Calls of a program; the first ones are recorded."""


def compiled(module: ModuleOp, passes: str) -> Program:
    for step in build(passes, UNIVERSE.all_passes, named_pipelines):
        step.run.apply(quiet(), module)
    return assemble(module)


def outcome(machine: Machine | ReferenceMachine, args: list[Any]) -> list[Any] | None:
    """Return results, or None after an error."""
    try:
        return flat(machine.run("main", *args))
    except MachineError:
        return None


@pytest.mark.ci
@exactly(80)
@given(dynamic_programs(), st.sampled_from(MEMORY), st.integers(0, 1000))
def test_templates_compute_what_the_reference_machine_computes(
    source: DynamicProgram, memory: str, seed: int
):
    program = compiled(inferred(source), f"vm{{memory={memory}}}")
    machine, reference = machine_of(program), ReferenceMachine(program)
    random = Random(seed)
    hidden = {
        size
        for shape, sizes in zip(source.shapes, source.calls[0], strict=True)
        for dim, size in zip(shape, sizes, strict=True)
        if dim is None
    }
    for _ in range(CALLS):
        sizes = {size: random.choice([0, 1, 2, 3, 5, 8, 40]) for size in sorted(hidden)}
        shapes = [tuple(sizes.get(dim, dim) for dim in shape) for shape in source.calls[0]]
        args = arguments(shapes)
        found, wanted = outcome(machine, args), outcome(reference, args)
        assert (found is None) == (wanted is None), shapes
        for a, b in zip(found or [], wanted or [], strict=True):
            assert (a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes()), shapes
