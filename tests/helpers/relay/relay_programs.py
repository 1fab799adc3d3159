"""Reading Relay text in tests."""

from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay import Relay
from xrelay.frontends.relay_text import RelayTextError, parse_module
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.passes.support.verifier import verify

DATA = Path(__file__).parents[2] / "data" / "relay_text"
VERSION = '#[version = "0.0.5"]\n'


def context(allow_unregistered: bool = False) -> ReportingContext:
    """A context with the dialect."""
    ctx = ReportingContext(allow_unregistered=allow_unregistered)
    ctx.register_dialect("relay", lambda: Relay)
    return ctx


def read(text: str, meta: dict[str, Any] | None = None, opaque: bool = False) -> ModuleOp:
    """Parse and verify `text`; prepend the version if there is none."""
    if "#[version" not in text:
        text = VERSION + text
    module = parse_module(context(opaque), text, "test.relay", meta)
    verify(module)
    return module


def ir_of(text: str, meta: dict[str, Any] | None = None, opaque: bool = False) -> str:
    """The IR of `text` without `builtin.module` around it, as little indented as possible."""
    lines = str(read(text, meta, opaque)).split("\n")[1:-1]
    return "\n".join(line[2:] for line in lines)


def body_of(text: str, meta: dict[str, Any] | None = None, opaque: bool = False) -> str:
    """The lines of the body of the last function in the IR of `text`."""
    lines = ir_of(text, meta, opaque).split("\n")
    start = max(i for i, line in enumerate(lines) if line.startswith("func.func"))
    return "\n".join(line[2:] for line in lines[start + 1 : -1])


def error_of(text: str, meta: dict[str, Any] | None = None) -> str:
    """`line:column: message` of the error in `text`, without counting the version's line."""
    lines = 0
    if "#[version" not in text:
        text, lines = VERSION + text, 1
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), text, "test.relay", meta)
    at = caught.value.location
    assert at.filename.data == "test.relay"
    return f"{at.line.data - lines}:{at.column.data}: {caught.value.message}"
