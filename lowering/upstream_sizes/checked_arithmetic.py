"""
Arithmetic on sizes that fails instead of wrapping, and checks of sizes.

    %b = arith.muli %n, %c32 : i64           ->    %b = func.call @xrelay.muli(%n, %c32)
    relay.require eq %n, %m, "{0}, but {1}"        %ok = arith.cmpi eq, %n, %m : i64
                                                   func.call @xrelay_require(%ok, %code, %n, %m)

`checked` has the functions that are called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import relay
from ...dialects.tensors import AnyInteger
from ...operators.sizes import Check
from ...passes.sizes.arith_ops import arith_ops
from ...passes.sizes.reader import integer
from ...passes.support.diagnostics import PassError
from ..memref.conversion_state import Conversion, Inserter
from . import checked_functions
from .arith_measures import NotArithmetic, write_measure
from .checked_code import CheckedCode

_EXACT = (arith.MaxSIOp, arith.MinSIOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp)
"""The ops that never fail."""

_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def require(
    state: Conversion,
    at: Operation,
    ok: SSAValue,
    message: str,
    values: Sequence[SSAValue],
    insert: Inserter,
) -> None:
    """
    Insert a check that stops the program with `message` unless `ok`.

    `{i}` in the message stands for `values[i]`, an i64. The runtime shows two numbers that are
    computed; constants become text, and further numbers a question mark.
    """
    shown: list[SSAValue] = []

    def text(found: re.Match[str]) -> str:
        value = values[int(found[1])]
        known = integer(value)
        if known is not None:
            return str(known)
        if value not in shown:
            if len(shown) == 2:
                return "?"
            shown.append(value)
        return f"{{{shown.index(value)}}}"

    code = state.code(_PLACEHOLDER.sub(text, message))
    zero = [state.number64(0, at)] * (2 - len(shown))
    insert(
        state.call_helper(
            checked_functions.REQUIRE, [ok, state.number64(code, at), *shown, *zero], None
        )
    )


def writer(state: Conversion, at: Operation, insert: Inserter) -> CheckedCode:
    """Return a writer of arithmetic on sizes in place of `at`, with checks."""

    def fail(ok: SSAValue, message: str, values: Sequence[SSAValue]) -> None:
        require(state, at, ok, message, values, insert)

    return CheckedCode(insert, fail)


@dataclass(frozen=True)
class ConvertArithmetic(RewritePattern):
    """Compute a size by a function that fails when the result does not fit."""

    state: Conversion

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if type(op) not in arith_ops() or isinstance(op, _EXACT):
            return
        (result,) = op.results
        type_, insert = result.type, Inserter(rewriter, InsertPoint.before(op))
        if type_ == i1:
            raise PassError(f"{op.name} on sizes must not be of i1", op)
        wide = [widened(operand, insert) for operand in op.operands]
        found = insert.value(self.state.call_helper(op.name.removeprefix("arith."), wide))
        found.name_hint = result.name_hint
        rewriter.replace(op, [], [narrowed(found, type_, self.state, op, insert)])


def widened(value: SSAValue, insert: Inserter) -> SSAValue:
    """Return the number `value` as an i64."""
    if value.type == i64:
        return value
    cast = arith.IndexCastOp if isinstance(value.type, IndexType) else arith.ExtSIOp
    return insert.value(cast(value, i64))


def narrowed(
    value: SSAValue, type: object, state: Conversion, at: Operation, insert: Inserter
) -> SSAValue:
    """Return the i64 `value` as a number of `type`; the program stops if it does not fit."""
    if type == i64:
        return value
    if isinstance(type, IndexType):
        return insert.value(arith.IndexCastOp(value, type))
    assert isinstance(type, IntegerType)
    width = cast(AnyInteger, type).width.data
    found = insert.value(arith.TruncIOp(value, IntegerType(width)))
    back = insert.value((arith.ExtUIOp if width == 1 else arith.ExtSIOp)(found, i64))
    ok = insert.value(arith.CmpiOp(back, value, "eq"))
    message = f"{{0}} does not fit in {width} bits"
    require(state, at, ok, message, [value], insert)
    return found


@dataclass(frozen=True)
class ConvertTruncation(RewritePattern):
    """Narrow a number, which must fit."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.TruncIOp, rewriter: PatternRewriter, /) -> None:
        insert = Inserter(rewriter, InsertPoint.before(op))
        wide = widened(op.input, insert)
        rewriter.replace(op, [], [narrowed(wide, op.result.type, self.state, op, insert)])


@dataclass(frozen=True)
class ConvertRequire(RewritePattern):
    """Stop the program if two sizes are not in a relation."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.RequireOp, rewriter: PatternRewriter, /) -> None:
        check, a, b = Check(op.check.data), integer(op.lhs), integer(op.rhs)
        if a is None or b is None or not check.holds(a, b):
            w = writer(self.state, op, Inserter(rewriter, InsertPoint.before(op)))
            w.fail(w.holds(check, op.lhs, op.rhs), op.message.data, op.operands)
        rewriter.erase(op)


@dataclass(frozen=True)
class ConvertMeasure(RewritePattern):
    """Compute a size that `arith` has no single op for."""

    state: Conversion
    types: Mapping[relay.MeasureOp, Sequence[Attribute]]
    """The types of each op's arguments before the conversion: integers are signed or not."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.MeasureOp, rewriter: PatternRewriter, /) -> None:
        w = writer(self.state, op, Inserter(rewriter, InsertPoint.before(op)))
        try:
            size = write_measure(w, op, op.args, self.types[op])
        except NotArithmetic as error:
            raise PassError(str(error), op) from error
        size.name_hint = size.name_hint or op.size.name_hint
        rewriter.replace(op, [], [size])
