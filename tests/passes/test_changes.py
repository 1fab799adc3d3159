"""Passes that report their changes: one that reports none has made none."""

from pathlib import Path

import pytest
from helpers.programs.programs import context
from xdsl.utils.exceptions import ParseError

from xrelay.passes.support.changes import InspectionPass, ReportingPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.tools.pass_run.process import settings
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.text.parser import LocatingParser

LIT = Path(__file__).parents[2] / "lit_tests" / "passes"

REPORTING = {
    name: kind
    for name, load in UNIVERSE.all_passes.items()
    if (LIT / name).is_dir()
    and issubclass(kind := load(), ReportingPass)
    and not issubclass(kind, InspectionPass)
}


def inputs(name: str) -> list[str]:
    """Return the programs of the lit tests of a pass."""
    files = [path.read_text(encoding="utf-8") for path in sorted((LIT / name).glob("*.mlir"))]
    return [part for text in files for part in text.split("// -----")]


@pytest.mark.parametrize("name", REPORTING)
def test_a_pass_that_reports_no_change_made_none(name: str):
    reports: set[bool] = set()
    with settings():
        for text in inputs(name):
            ctx = context()
            try:
                module = LocatingParser(ctx, text, "program.mlir", 0).parse_module()
                verify(module)
                for _ in range(2):
                    before = module.clone()
                    changed = REPORTING[name]().change(ctx, module)
                    reports.add(changed)
                    assert changed or module.is_structurally_equivalent(before), text
            except (PassError, ParseError):
                continue  # the lit tests of errors
    assert reports == {True, False}


def test_most_passes_that_often_have_nothing_to_do_report():
    assert len(REPORTING) >= 11
