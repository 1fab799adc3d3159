"""Random programs with dynamic dims: one lowered program computes what each static one does."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from dynamic_programs import DynamicProgram, Shape, dynamic_programs
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xrelay.lowering.assemble import assemble
from xrelay.lowering.disassemble import disassemble
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.runtime.errors import MachineError
from xrelay.runtime.kernels.memory import Memory
from xrelay.runtime.machine import Machine
from xrelay.tools.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines
from xrelay.tools.runner import Runner

Array = npt.NDArray[Any]
Outcome = list[Array] | str
"""Results, or an error."""


def flat(values: Sequence[Any]) -> list[Array]:
    found: list[Array] = []
    for value in values:
        found += flat(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else [value]
    return found


def inferred(module: ModuleOp) -> ModuleOp | None:
    """Return `module` with all types; None if they do not fit."""
    try:
        InferTypesPass().apply(context(), module)
        verify(module)
    except (PassError, VerifyException):
        return None
    return module


def evaluated(module: ModuleOp, args: Sequence[Array]) -> Outcome:
    try:
        return flat(evaluate(module, args))
    except PassError as error:
        return str(error)


def run(machine: Machine, args: Sequence[Array]) -> Outcome:
    try:
        return machine.run("main", *args)
    except MachineError as error:
        return str(error)


def same(found: Outcome, wanted: Outcome, what: str) -> None:
    """Check that results are equal, or that both are errors."""
    if isinstance(wanted, str) or isinstance(found, str):
        assert isinstance(wanted, str) == isinstance(found, str), f"{what}: {found}, not {wanted}"
        return
    assert len(found) == len(wanted), what
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), what
        np.testing.assert_array_equal(a, b, err_msg=what)


def arguments(shapes: Sequence[Shape]) -> list[Array]:
    rng = np.random.default_rng(len(shapes))
    return [rng.uniform(-2, 2, shape).astype(np.float32) for shape in shapes]


def lowered(module: ModuleOp, level: int, pipeline: str) -> ModuleOp:
    """Lower `module` to bytecode, fusing at `level`."""
    passes = named_pipelines()[pipeline].replace("fuse-ops", f"fuse-ops{{level={level}}}")
    Runner(build(passes, UNIVERSE.all_passes, named_pipelines)).run(context(), module)
    return module


def check(program: DynamicProgram, level: int, pipeline: str) -> None:
    module = inferred(program.at_open())
    assume(module is not None)
    assert module is not None
    code = assemble(lowered(module.clone(), level, pipeline))
    machine = Machine(code, memory=Memory(poison=True))
    again = Machine(assemble(disassemble(code)), memory=Memory(poison=True))
    for shapes in (*program.calls, program.calls[0]):
        args = arguments(shapes)
        found = run(machine, args)
        same(evaluated(module, args), found, f"evaluated at {shapes}")
        same(run(again, args), found, f"disassembled at {shapes}")
        static = inferred(program.at(shapes))
        if static is not None:  # it may be None for a branch that is not taken
            same(found, evaluated(static, args), f"static at {shapes}")


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
@given(dynamic_programs(), st.integers(0, 1), st.sampled_from(["vm", "vm-planned"]))
def test_one_program_for_all_shapes(program: DynamicProgram, level: int, pipeline: str):
    try:
        check(program, level, pipeline)
    except Exception as error:
        error.add_note(f"the program: {program.save(program.calls)}")
        raise
