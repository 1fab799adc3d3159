"""Which passes of a pipeline run."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from xrelay.passes.support.changes import InspectionPass, ReportingPass
from xrelay.tools.pass_run.pipeline_steps import Step
from xrelay.tools.pass_run.runner import Runner


@dataclass(frozen=True)
class Marking(ReportingPass):
    """Gives the module an attribute, unless it has it."""

    name = "marking"

    mark: str
    log: list[str] = field(compare=False)

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        self.log.append(self.mark)
        changes = self.mark not in op.attributes
        op.attributes[self.mark] = UnitAttr()
        return changes


@dataclass(frozen=True)
class Looking(InspectionPass):
    """Notes that it has run."""

    name = "looking"

    log: list[str] = field(compare=False)

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        self.log.append("look")


@pytest.mark.parametrize(
    ("passes", "ran"),
    [
        ("a a", "a a"),
        ("a a a", "a a"),
        ("a a b a", "a a b a"),
        ("a a b b a b", "a a b b a"),
        ("look look", "look look"),
        ("a a look a", "a a look"),
    ],
)
def test_a_pass_that_found_nothing_to_change_runs_again_only_after_a_change(passes: str, ran: str):
    log: list[str] = []
    made: list[Any] = [Looking(log) if p == "look" else Marking(p, log) for p in passes.split()]
    Runner([Step(step) for step in made]).run(Context(), ModuleOp([]))
    assert " ".join(log) == ran


def test_every_run_begins_anew():
    log: list[str] = []
    runner = Runner([Step(Marking("a", log))] * 3)
    for _ in range(2):
        runner.run(Context(), ModuleOp([]))
    assert log == ["a"] * 4
