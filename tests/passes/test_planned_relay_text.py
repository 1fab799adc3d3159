"""
Planned programs are fixed points: replanning, with another default, does not change them.

The programs are those of `lit_tests/passes/plan-devices`, planned as their RUN line says, and
random ones. They are replanned directly and through Relay text, which shows that the text preserves
the whole plan. The lit tests check the subject of each program; this test compares all of it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from helpers.programs.hinted_programs import Program
from helpers.programs.hinted_relay_programs import RelayProgram, inputs
from helpers.programs.programs import assert_same
from helpers.programs.random_settings import exactly, share
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay import ClosureOp, ParamOp
from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.errors import PrintingError
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import PassError, ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.api.source import split
from xrelay.tools.text.parser import LocatingParser

UNIVERSE = load_universe(lambda text: None)

FOLDER = Path(__file__).parents[2] / "lit_tests" / "passes" / "plan-devices"


class Section(NamedTuple):
    """A program of a lit test, and the pass in the file's RUN line."""

    text: str
    suffix: str
    plan: PlanDevicesPass


def options(line: str) -> PlanDevicesPass:
    """The pass of a RUN line."""
    given = re.search(r"plan-devices\{([^}]*)\}", line)
    words = "" if given is None else given[1]
    known = dict(re.findall(r"(default|host)=([\w:]+)", words))
    return PlanDevicesPass(
        **known,
        targets=tuple(re.findall(r'"([^"]+)"', words)),
        repair="repair" in words,
    )


def sections(path: Path) -> Iterator[tuple[str, Section]]:
    """The valid programs of a file, named by the file and their last function."""
    text = path.read_text(encoding="utf-8")
    (*_, run) = (line for line in text.splitlines() if line.startswith("// RUN: xrelay-opt"))
    for part in split(text):
        if "expected-error" in part.text:
            continue
        names = re.findall(r"^(?:func\.func|def) (?:private )?(@[\w.]+)", part.text, re.M)
        name = names[-1] if names else "no function"
        yield f"{path.name}: {name}", Section(part.text, path.suffix, options(run))


FILES = [path for path in sorted(FOLDER.iterdir()) if path.suffix in (".mlir", ".relay")]
PROGRAMS = dict(program for path in FILES for program in sections(path))


def read(text: str, suffix: str) -> ModuleOp:
    """The module of a program in IR or Relay text; remarks are ignored."""
    if suffix == ".relay":
        return parse_module(quiet(), text, "test.relay")
    return LocatingParser(quiet(), text, "test.mlir").parse_module()


def quiet() -> ReportingContext:
    ctx = ReportingContext(handler=lambda message: None, allow_unregistered=True)
    for name, factory in UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def planned(module: ModuleOp, plan: PlanDevicesPass) -> ModuleOp:
    plan.apply(quiet(), module)
    verify(module)
    return module


def is_said_exactly(module: ModuleOp) -> bool:
    """
    Test whether Relay text is exact.

    Functions have one result, weights are not named, and closures have bodies.
    """
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    return all(len(f.function_type.outputs) == 1 for f in functions) and not any(
        isinstance(op, ParamOp | ClosureOp) for op in module.walk()
    )


def is_fixed_point(module: ModuleOp, plan: PlanDevicesPass) -> None:
    """Check that replanning, directly and through Relay text, does not change `module`."""
    before = module.clone()
    assert_same(planned(module, plan), before)
    text = module_text(module)
    again = planned(read(text, ".relay"), plan)
    assert module_text(again) == text
    if is_said_exactly(module):
        assert module.is_structurally_equivalent(again)


NOT_IN_TEXT = {
    "functions.mlir: @calls_declared": "no form for @declared, a function without a body",
    "functions.mlir: @foreign": "no form for test.op",
    "functions.mlir: @calls_it": "cannot have a function called @{braces}",
    "memory.mlir: @memory_copy": "no form for memory.copy",
    "straight-line.mlir: @free_hints": "no form for the results .* on cpu:0 and cuda:0",
    "straight-line.mlir: @returned_twice": "no form for the results .* on cpu:0 and cuda:0",
    "straight-line.mlir: @primitives": "no form for relay.primitive",
}
"""Programs that Relay text cannot express, and the error."""


@pytest.mark.parametrize("name", share([*PROGRAMS], 2))
def test_programs(name: str):
    section = PROGRAMS[name]
    module = planned(read(section.text, section.suffix), section.plan)
    again = PlanDevicesPass("cuda:3", section.plan.host, section.plan.targets)
    if name not in NOT_IN_TEXT:
        is_fixed_point(module, again)
        return
    before = module.clone()
    assert_same(planned(module, again), before)
    with pytest.raises(PrintingError, match=NOT_IN_TEXT[name]):
        module_text(module)


@given(st.randoms(use_true_random=False), st.integers(1, 25))
@exactly(15)
def test_random_programs(rng: Random, size: int):
    module = read(Program(rng, size).text(), ".mlir")
    is_fixed_point(
        planned(module, PlanDevicesPass("cuda:0", repair=True)), PlanDevicesPass("cuda:3")
    )


@given(st.integers(0, 1 << 32), st.booleans())
@exactly(25)
def test_random_relay_programs(seed: int, repair: bool):
    """Test data, references and functions; planning must preserve the results, too."""
    text = RelayProgram(Random(seed)).text
    module = read(text, ".relay")
    expected = evaluate(module, inputs())
    try:
        planned(module, PlanDevicesPass("cuda:0", repair=repair))
    except PassError:
        return  # a conflict
    again = planned(read(module_text(module), ".relay"), PlanDevicesPass("cuda:3"))
    np.testing.assert_array_equal(evaluate(again, inputs()), expected)
    is_fixed_point(module, PlanDevicesPass("cuda:3"))


def test_the_readme_names_every_file():
    rows = (FOLDER / "README.md").read_text().partition("|---|---|")[2].splitlines()
    listed = re.findall(r"`([a-z-]+)`", " ".join(row.split("|")[-2] for row in rows if row))
    assert sorted(listed) == sorted(path.stem for path in FILES)


def test_there_are_programs():
    assert len(PROGRAMS) > 200
