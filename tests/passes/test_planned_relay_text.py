"""
Planned Relay text is a fixed point: read and planned again, with another default, it is the same.

The programs are those of `lit_tests/passes/plan-devices`, planned as their first RUN line says.
The lit tests look for what each program is about; this looks at all of it.
"""

import re
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hinted_programs import Program
from hinted_relay_programs import RelayProgram, inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from relay_programs import context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.printer import module_text
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify

FOLDER = Path(__file__).parents[2] / "lit_tests" / "passes" / "plan-devices"
PROGRAMS = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.relay"))}
PLANNABLE = [name for name, text in PROGRAMS.items() if "expected-error" not in text]


def options(program: str) -> PlanDevicesPass:
    """The pass of a program's first RUN line."""
    given = re.search(r"plan-devices\{([^}]*)\}", program)
    words = "default=cuda:0" if given is None else given[1]
    known = dict(re.findall(r"(\w+)=([\w:]+)", words))
    return PlanDevicesPass(
        default=known["default"],
        host=known.get("host", "cpu:0"),
        targets=tuple(re.findall(r'"([^"]+)"', words)),
        repair="repair" in words,
    )


def planned(text: str, plan: PlanDevicesPass) -> ModuleOp:
    """The module of `text`, planned; what the pass remarks is not looked at."""
    ctx = context()
    ctx.handler = lambda message: None
    module = parse_module(ctx, text, "test.relay")
    plan.apply(ctx, module)
    verify(module)
    return module


def is_fixed_point(module: ModuleOp, plan: PlanDevicesPass) -> None:
    """Planned again, by way of Relay text and directly, `module` is the same."""
    text = module_text(module)
    again = planned(text, plan)
    assert module_text(again) == text
    assert module.is_structurally_equivalent(again)
    plan.apply(context(), module)
    assert module_text(module) == text


@pytest.mark.parametrize("name", PLANNABLE)
def test_programs(name: str):
    first = options(PROGRAMS[name])
    second = PlanDevicesPass("cuda:3", first.host, first.targets)
    is_fixed_point(planned(PROGRAMS[name], first), second)


@given(st.randoms(use_true_random=False), st.integers(1, 25))
@settings(max_examples=50, deadline=None)
def test_random_programs(rng: Random, size: int):
    ctx = context()
    ctx.handler = lambda message: None
    for dialect in (Builtin, Func):
        ctx.register_dialect(dialect.name, lambda dialect=dialect: dialect)
    module = Parser(ctx, Program(rng, size).text()).parse_module()
    PlanDevicesPass("cuda:0", repair=True).apply(ctx, module)
    is_fixed_point(module, PlanDevicesPass("cuda:3"))


@given(st.integers(0, 1 << 32), st.booleans())
@settings(max_examples=100, deadline=None)
def test_random_relay_programs(seed: int, repair: bool):
    """Data, references and functions; planned, they also compute what they did."""
    text = RelayProgram(Random(seed)).text
    module = parse_module(context(), text, "test.relay")
    expected = evaluate(module, inputs())
    ctx = context()
    ctx.handler = lambda message: None
    try:
        PlanDevicesPass("cuda:0", repair=repair).apply(ctx, module)
    except PassError:
        return  # a contradiction
    verify(module)
    again = planned(module_text(module), PlanDevicesPass("cuda:3"))
    np.testing.assert_array_equal(evaluate(again, inputs()), expected)
    is_fixed_point(module, PlanDevicesPass("cuda:3"))


def test_the_readme_names_every_file():
    rows = (FOLDER / "README.md").read_text().partition("|---|---|")[2].splitlines()
    listed = re.findall(r"`([a-z-]+)`", " ".join(row.split("|")[-2] for row in rows if row))
    files = [path.stem for path in FOLDER.iterdir() if path.suffix in (".relay", ".mlir")]
    assert [f for f in files if not f.startswith(tuple(listed))] == []
    assert [name for name in listed if not any(f.startswith(name) for f in files)] == []


def test_there_are_programs():
    assert len(PLANNABLE) > 100
