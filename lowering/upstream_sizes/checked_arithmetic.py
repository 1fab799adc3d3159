"""
Arithmetic on sizes that fails instead of wrapping, and checks of sizes.

    %b = arith.muli %n, %c32 : i64           ->    %b = func.call @xrelay.muli(%n, %c32)
    relay.require eq %n, %m, "{0}, but {1}"        %ok = arith.cmpi eq, %n, %m : i64
                                                   func.call @xrelay_require(%ok, %code, %n, %m)

`checked_functions` has the functions that are called.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import relay
from ...dialects.dense import integer
from ...dialects.tensors import AnyInteger
from ...operators.sizes import Check
from ...passes.support.diagnostics import PassError
from ..memref.conversion_state import Writer, converts
from .arith_measures import NotArithmetic, write_measure
from .checked_code import CheckedCode
from .checked_functions import FUNCTIONS

_CLASSES = {kind.name.removeprefix("arith."): kind for kind in arith.Arith.operations}


@converts(*(_CLASSES[name] for name in FUNCTIONS if name in _CLASSES))
def convert_arithmetic(op: Operation, w: Writer) -> None:
    """Compute a size by a function that fails when the result does not fit."""
    (result,) = op.results
    if result.type == i1:
        raise PassError(f"{op.name} on sizes must not be of i1", op)
    wide = [widened(operand, w) for operand in op.operands]
    (wide_result,) = w.call(op.name.removeprefix("arith."), *wide)
    wide_result.name_hint = result.name_hint
    w.replace(narrowed(wide_result, result.type, w))


def widened(value: SSAValue, w: Writer) -> SSAValue:
    """Return the number `value` as an i64."""
    if value.type == i64:
        return value
    cast = arith.IndexCastOp if isinstance(value.type, IndexType) else arith.ExtSIOp
    return w.value(cast(value, i64))


def narrowed(value: SSAValue, type: Attribute, w: Writer) -> SSAValue:
    """Return the i64 `value` as a number of `type`; the program stops if it does not fit."""
    if type == i64:
        return value
    if isinstance(type, IndexType):
        return w.value(arith.IndexCastOp(value, type))
    assert isinstance(type, IntegerType)
    width = cast(AnyInteger, type).width.data
    narrow = w.value(arith.TruncIOp(value, IntegerType(width)))
    back = w.value((arith.ExtUIOp if width == 1 else arith.ExtSIOp)(narrow, i64))
    w.require(
        w.value(arith.CmpiOp(back, value, "eq")), f"{{0}} does not fit in {width} bits", [value]
    )
    return narrow


@converts(arith.TruncIOp)
def convert_truncation(op: arith.TruncIOp, w: Writer) -> None:
    """Narrow a number, which must fit."""
    w.replace(narrowed(widened(op.input, w), op.result.type, w))


@converts(relay.RequireOp)
def convert_require(op: relay.RequireOp, w: Writer) -> None:
    """Stop the program if two sizes are not in a relation."""
    check, a, b = Check(op.check.data), integer(op.lhs), integer(op.rhs)
    if a is None or b is None or not check.holds(a, b):
        ok = CheckedCode(w, w.require).holds(check, op.lhs, op.rhs)
        w.require(ok, op.message.data, op.operands)
    w.rewriter.erase(op)


@converts(relay.MeasureOp)
def convert_measure(op: relay.MeasureOp, w: Writer) -> None:
    """Compute a size that `arith` has no single op for."""
    try:
        size = write_measure(CheckedCode(w, w.require), op, op.args, w.state.measured[op])
    except NotArithmetic as error:
        raise PassError(str(error), op) from error
    w.replace(size)
