"""Ops that are defined, and formats that are compiled, when they are first used."""

import pytest
import xdsl.irdl
from xdsl.context import Context
from xdsl.dialects.test import Test
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, operand_def, traits_def
from xdsl.parser import Parser
from xdsl.traits import IsTerminator, Pure
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, PyRDLOpDefinitionError, VerifyException

from xrelay.dialects.xdsl_extras.late_definitions import late_definitions
from xrelay.tools.api import plugins

TEXT = """\
%x = "test.op"() : () -> i32
late.use %x {"a" = 1 : i32} : i32
"""


def op_with_format(format: str) -> type[Operation]:
    """Define an op with this format."""

    @xdsl.irdl.irdl_op_definition
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


def test_late_definitions_are_as_early_ones():
    with late_definitions():
        late = op_with_format("$x attr-dict `:` type($x)")
    early = op_with_format("$x attr-dict `:` type($x)")
    assert printed(late) == printed(early)
    assert printed(late)[2].strip() == "late.use %x {a = 1 : i32} : i32"


def test_wrong_formats_are_errors_when_they_are_used():
    with late_definitions():
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


def derived_ops() -> tuple[type[IRDLOperation], type[IRDLOperation]]:
    """Define an op, and one that is derived from it."""

    @xdsl.irdl.irdl_op_definition
    class BaseOp(IRDLOperation):
        name = "late.base"
        traits = traits_def(Pure())

        def verify_(self):
            raise VerifyException("of the base")

    @xdsl.irdl.irdl_op_definition
    class DerivedOp(BaseOp):
        name = "late.derived"
        traits = traits_def(IsTerminator())

        def verify_(self):
            super().verify_()

    return BaseOp, DerivedOp


def test_late_ops_are_as_early_ones():
    """Whichever is used first, an op or one that derives from it, and whatever is asked first."""
    early = derived_ops()[1]
    with late_definitions():
        kinds = [derived_ops() for _ in range(4)]
    assert kinds[0][1].create().has_trait(Pure)
    assert kinds[1][0].create().has_trait(Pure)
    assert kinds[2][1].get_irdl_definition().name == "late.derived"
    for _, kind in kinds:
        assert [type(t) for t in kind.traits] == [type(t) for t in early.traits]
        assert kind.get_irdl_definition().operands == early.get_irdl_definition().operands
        assert vars(kind).keys() == vars(early).keys()
        with pytest.raises(VerifyException, match="of the base"):
            kind.create().verify_()


def test_what_is_assigned_to_a_late_op_stays():
    with late_definitions():
        late = op_with_format("$y")
    setattr(late, "parse", "assigned")
    late.create()
    assert vars(late)["parse"] == "assigned"
