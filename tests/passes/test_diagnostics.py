"""Diagnostics of passes: locations, notes, and handlers."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    i32,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Region

from xrelay.passes.support.diagnostics import (
    Message,
    PassError,
    ReportingContext,
    Severity,
    emit_remark,
    emit_warning,
    file_location,
    location_of,
)


def at(line: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("f.mlir"), IntAttr(line), IntAttr(2))


def test_file_location_looks_into_named_called_and_fused_ones():
    unknown = UnknownLoc()
    assert file_location(unknown) is None
    assert file_location(at(1)) == at(1)
    assert file_location(NameLoc(StringAttr("n"), at(2))) == at(2)
    assert file_location(CallSiteLoc(at(3), at(4))) == at(3)
    assert file_location(CallSiteLoc(unknown, at(4))) == at(4)
    assert file_location(FusedLoc((unknown, at(5), at(6)), NoneAttr())) == at(5)


def test_a_place_without_location_has_that_of_the_op_around_it():
    inner = TestOp(result_types=[i32])
    block = Block([inner], arg_types=[i32])
    outer = TestOp(regions=[Region(block)])
    outer.location = at(9)
    assert location_of(inner) == at(9)
    assert location_of(inner.results[0]) == at(9)
    assert location_of(block.args[0]) == at(9)
    block.args[0].location = at(10)
    assert location_of(block.args[0]) == at(10)
    assert location_of(ModuleOp([])) is None


def test_error_keeps_its_places_when_the_ops_are_gone():
    op = TestOp()
    op.location = at(1)
    other = TestOp()
    other.location = at(2)
    error = PassError("needs 64 bytes, but has 32", op, [(other, "declared here")])
    op.erase()
    other.erase()
    assert str(error) == "needs 64 bytes, but has 32"
    assert str(error.as_message()) == (
        "f.mlir:1:2: error: needs 64 bytes, but has 32\nf.mlir:2:2: note: declared here"
    )


def test_reporting_context_collects_also_in_clones():
    seen: list[Message] = []
    ctx = ReportingContext(handler=seen.append)
    op = TestOp()
    emit_remark(ctx, op, "fused")
    emit_warning(ctx.clone(), op, "slow", [(op, "here")])
    assert [(m.severity, m.message, len(m.notes)) for m in seen] == [
        (Severity.REMARK, "fused", 0),
        (Severity.WARNING, "slow", 1),
    ]


def test_any_other_context_prints_plainly(capsys: pytest.CaptureFixture[str]):
    op = TestOp()
    op.location = at(3)
    emit_remark(Context(), op, "fused")
    emit_warning(Context(), TestOp(), "slow")
    assert capsys.readouterr().err == "f.mlir:3:2: remark: fused\nwarning: slow\n"
