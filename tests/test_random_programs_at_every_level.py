"""
Random programs compute the same at every level and in the machine, at all shapes.

Their dims are static or not, named or not. `XRELAY_RANDOM_PROGRAMS=5000 pytest …` tries that many
other programs per test. A failure is shrunk, and written to a file with commands that show it.
"""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import gettempdir

import numpy as np
import pytest
from helpers.machine.in_machine import machine_of, run_passes
from helpers.programs.agreement import Array, agree, evaluated, pipelines, quiet, same
from helpers.programs.dynamic_programs import (
    DynamicProgram,
    arguments,
    dynamic_programs,
    inferred,
    name_dims,
)
from helpers.programs.hinted_relay_programs import RelayProgram
from helpers.programs.programs import printed
from helpers.programs.random_settings import exactly
from helpers.relay.relay_programs import read
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.runtime.errors import MachineError
from xrelay.runtime.files import replace
from xrelay.runtime.machine.paths import Kept, Object, State
from xrelay.runtime.memory.spaces import Space
from xrelay.runtime.program.program import Program
from xrelay.tools.array_files import npz_pieces

NOT_REPAIRED = re.compile("would have to be on|only tensors and tuples can be copied")
"""Conflicts of devices that copies cannot repair."""


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


@contextmanager
def saved(module: ModuleOp, passes: str, calls: Sequence[Sequence[Array]]) -> Generator[None]:
    """Write a program that fails to files; those written last are of the smallest."""
    program = module.clone()
    names = [arg.name_hint or str(i) for i, arg in enumerate(main_of(module).args)]
    try:
        yield
    except Exception as error:
        path = Path(gettempdir()) / "xrelay-random-program.mlir"
        commands: list[str] = []
        for i, args in enumerate(calls):
            given = path.with_suffix(f".{i}.npz")
            replace(given, npz_pieces(dict(zip(names, args, strict=True))))
            run = f"xrelay-run {path} --inputs {given} --poison"
            commands += [f"{run} --evaluate", f"{run} --pipeline '{passes}'"]
        text = "".join(f"// {line}\n" for line in commands) + printed(program)
        path.write_text(text, encoding="utf-8")
        error.add_note(f"the program, with commands that run it: {path}")
        raise


def assert_peak_is_exact(program: Program, calls: Sequence[Sequence[Array]]) -> None:
    """Check the machine's count of live bytes against one that visits what each call returns."""
    take_over = State.receive

    def visit(
        state: State, register: int, result: Object, kept: Kept | None, spaces: tuple[Space, ...]
    ) -> None:
        take_over(state, register, result, None, spaces)

    found, other = machine_of(program), machine_of(program)
    for args in calls:
        found.run("main", *args)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(State, "receive", visit)
        for args in calls:
            other.run("main", *args)
    assert found.counters.peak == other.counters.peak


@exactly(15)
@given(st.randoms(use_true_random=False), st.booleans(), pipelines(), st.data())
def test_programs_with_data_and_functions(
    rng: Random, is_open: bool, passes: str, data: st.DataObject
):
    """
    Both branches of the condition run, at a few sizes, after plans that repair conflicts.

    A program that fails in all calls may be an error at compile time: its sizes contradict.
    """
    text = RelayProgram(rng, is_open).text
    module = read(text)
    InferTypesPass().apply(quiet(), module)
    verify(module)
    sizes = [(4, 4)]
    if is_open:
        names = data.draw(st.sampled_from([(None, None), (["n"], ["m"]), (["n"], ["n"])]))
        name_dims(main_of(module), names)
        for _ in range(2):
            n, m = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5))
            sizes.append((n, n if names == (["n"], ["n"]) else m))
    calls = [[np.array(flag), *arguments([(n,), (m,)])] for flag in (True, False) for n, m in sizes]
    has_references = "ref(" in text  # what a reference held counts as live
    original = module.clone()
    with saved(module, passes, calls):
        try:
            agree(module, passes, calls)
            if not is_open and not has_references:
                assert_peak_is_exact(assemble(module), calls)
        except PassError as error:
            fails = all(isinstance(evaluated(original, args), str) for args in calls)
            if not NOT_REPAIRED.search(str(error)) and not fails:
                raise


def peaks(module: ModuleOp, calls: Sequence[Sequence[Array]]) -> list[dict[int, int]]:
    """Return the most live bytes of each call by device; none for a call that fails."""
    machine = machine_of(assemble(module))
    found: list[dict[int, int]] = []
    for args in calls:
        machine.counters.peak.clear()
        try:
            machine.run("main", *args)
        except MachineError:  # its dims may not fit an operator
            found.append({})
        else:
            found.append(dict(machine.counters.peak))
    return found


@exactly(10)
@given(st.randoms(use_true_random=False), st.booleans(), pipelines())
def test_allocated_registers_keep_no_more_bytes_alive(rng: Random, is_open: bool, passes: str):
    module = read(RelayProgram(rng, is_open).text)
    given, _, after = passes.partition(",allocate-registers")
    assert after == ",verify-stage{stage=bytecode}"
    calls = [[np.array(flag), *arguments([(4,), (4,)])] for flag in (True, False)]
    with saved(module.clone(), passes, calls):
        try:
            run_passes(module, given)
        except PassError as error:
            if NOT_REPAIRED.search(str(error)):
                return
            raise
        allocated = module.clone()
        run_passes(allocated, "allocate-registers")
        before, now = peaks(module, calls), peaks(allocated, calls)
        for one, other in zip(now, before, strict=True):
            assert all(size <= other[device] for device, size in one.items())


@exactly(15)
@given(dynamic_programs(), pipelines())
def test_programs_of_tensors(program: DynamicProgram, passes: str):
    """The results are those of the program with the dims of each call, too."""
    module = inferred(program)
    calls = [arguments(shapes) for shapes in program.calls]
    with saved(module, passes, calls):
        found = agree(module, passes, calls)
        for shapes, args, results in zip(program.calls, calls, found, strict=True):
            static = program.at(shapes)
            try:
                InferTypesPass().apply(quiet(), static)
                verify(static)
            except (PassError, VerifyException):  # perhaps of a branch that is not taken
                continue
            same(results, evaluated(static, args), f"with static dims {shapes}")
