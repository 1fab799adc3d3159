"""Formats that are compiled when they are first used."""

import pytest
from xdsl.context import Context
from xdsl.dialects.test import Test
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def
from xdsl.parser import Parser
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, PyRDLOpDefinitionError

from xrelay.dialects.xdsl_extras.late_formats import late_formats
from xrelay.tools.api import plugins

TEXT = """\
%x = "test.op"() : () -> i32
late.use %x {"a" = 1 : i32} : i32
"""


def op_with_format(format: str) -> type[Operation]:
    """Define an op with this format."""

    @irdl_op_definition
    class UseOp(IRDLOperation):
        name = "late.use"
        x = operand_def()
        assembly_format = format

    return UseOp


def printed(kind: type[Operation]) -> list[str]:
    """Return `TEXT`, parsed and printed."""
    context = Context()
    context.load_dialect(Test)
    context.load_op(kind)
    return str(Parser(context, TEXT).parse_module()).splitlines()


def test_late_formats_are_as_early_ones():
    with late_formats():
        late = op_with_format("$x attr-dict `:` type($x)")
    early = op_with_format("$x attr-dict `:` type($x)")
    assert printed(late) == printed(early)
    assert printed(late)[2].strip() == "late.use %x {a = 1 : i32} : i32"


def test_wrong_formats_are_errors_when_they_are_used():
    with late_formats():
        late = op_with_format("$y")
    with pytest.raises(ParseError, match="y"):
        printed(late)
    with pytest.raises(PyRDLOpDefinitionError):
        op_with_format("$y")


def test_dialects_that_come_with_us_are_late(monkeypatch: pytest.MonkeyPatch):
    universe = Universe(all_dialects={"late": lambda: Dialect("late", [op_with_format("$y")])})
    monkeypatch.setattr(plugins, "XDSL_UNIVERSE", universe)
    dialect = plugins.load_universe(lambda text: None).all_dialects["late"]()
    assert [op.name for op in dialect.operations] == ["late.use"]
    with pytest.raises(PyRDLOpDefinitionError):
        op_with_format("$y")
