"""
Printed IR is read back unchanged: lit inputs, with locations, and generic.

By default a few of them are read, all with `XRELAY_ROUNDS=4`. Golden tests read text without
locations, and print it (`ROUNDTRIP`).
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.machine.in_machine import universal_context
from helpers.programs.random_settings import share
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from xrelay.frontends.relay_text import load_module
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.tools.api.source import split
from xrelay.tools.pass_run.process import settings
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.printing import PrintOptions, module_text

ROOT = Path(__file__).parents[2]
FAULTS = ROOT / "tests" / "data" / "faults"
GOLDEN = [path for path in (ROOT / "lit_tests").rglob("*.*") if "Output" not in path.parts]
IR = share(sorted(path for path in GOLDEN if path.suffix == ".mlir"), 16)
TEXT = sorted(path for path in GOLDEN if path.suffix == ".relay")
RELAY = [FAULTS / "anydim.relay", *share(TEXT, 3)]
OPTIONS = (
    PrintOptions(debuginfo=True),
    PrintOptions(debuginfo=True, generic=True),
)


def context() -> ReportingContext:
    return universal_context(allow_unregistered=True)


def parsed(text: str) -> ModuleOp:
    return LocatingParser(context(), text, "read.mlir").parse_module()


def modules(path: Path) -> Iterator[ModuleOp]:
    """Yield the valid modules in a file; tests of errors contain invalid ones, too."""
    for part in split(path.read_text()):
        try:
            if path.suffix == ".mlir":
                module = parsed(part.text)
                verify(module)
                yield module
            else:
                yield load_module(context(), part.text, path.name).module
        except (DiagnosticException, ParseError):
            continue


@pytest.mark.ci
@pytest.mark.parametrize(
    "paths", [*(IR[i::4] for i in range(4)), RELAY], ids=["ir0", "ir1", "ir2", "ir3", "relay"]
)
def test_what_is_printed_is_read_back(paths: list[Path]):
    count, printing = 0, context()
    with settings():
        for path in paths:
            for module in modules(path):
                for options in OPTIONS:
                    text = module_text(printing, module, options)
                    again = module_text(printing, parsed(text), options)
                    assert again == text, path
                count += 1
    assert count > len(paths) / 2
