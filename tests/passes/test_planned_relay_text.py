"""
Planned Relay text is a fixed point: read and planned again, with another default, it is the same.

The programs are those of `lit_tests/passes/plan-devices`, planned as their first RUN line says.
The lit tests look for what each program is about; this looks at all of it.
"""

import re
from pathlib import Path

import pytest
from relay_programs import context
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.printer import module_text
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.verifier import verify

PROGRAMS = {
    path.stem: path.read_text()
    for path in sorted(
        (Path(__file__).parents[2] / "lit_tests" / "passes" / "plan-devices").glob("*.relay")
    )
}
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


@pytest.mark.parametrize("name", PLANNABLE)
def test_fixed_point(name: str):
    first = options(PROGRAMS[name])
    second = PlanDevicesPass("cuda:3", first.host, first.targets)
    module = planned(PROGRAMS[name], first)
    text = module_text(module)
    again = planned(text, second)
    assert module_text(again) == text
    assert module.is_structurally_equivalent(again)
    second.apply(context(), module)
    assert module_text(module) == text


def test_there_are_programs():
    assert len(PLANNABLE) > 100
