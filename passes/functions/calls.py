"""
Calls of known functions.

    %f = relay.closure @scale(%k) : …
    %y = relay.call %f(%x) : (T) -> T      ->      %y = func.call @scale(%k, %x) : (S, T) -> T
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import relay
from ...dialects.xdsl_extras.walking import walk
from ..support.rewriting import apply_patterns


def known_function(value: SSAValue) -> relay.GlobalOp | relay.ClosureOp | None:
    """Return the op that makes the function `value` from a function of the module, if one does."""
    owner = value.owner
    return owner if isinstance(owner, relay.GlobalOp | relay.ClosureOp) else None


def direct_call(
    function: func.FuncOp,
    type_args: Sequence[Attribute],
    args: Sequence[SSAValue],
    result: Attribute,
) -> Operation:
    """
    Return a call of `function`: `func.call` if all types are equal, `relay.invoke` otherwise.

    The latter is for generic functions, and for dims that only one side knows.
    """
    type = FunctionType.from_lists([arg.type for arg in args], [result])
    if type == function.function_type and not type_args:
        return func.CallOp(function.sym_name.data, args, [result])
    return relay.InvokeOp(function.sym_name.data, type_args, args, result)


def inline_before(
    call: Operation, body: Region, args: Sequence[SSAValue], rewriter: PatternRewriter
) -> Sequence[SSAValue]:
    """Move the ops of `body`, on `args`, before `call`; return what its terminator passes on."""
    last = body.block.last_op
    assert last is not None, "a body ends in a terminator"
    rewriter.inline_block(body.block, InsertPoint.before(call), args)
    values = tuple(last.operands)
    rewriter.erase(last)
    return values


@dataclass(frozen=True)
class CallDirectly(RewritePattern):
    """Replace a call of a function value by a call of the function, if it is known."""

    functions: Mapping[str, func.FuncOp]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.CallOp, rewriter: PatternRewriter, /) -> None:
        value = known_function(op.callee)
        if value is None:
            return
        function = self.functions.get(value.callee.string_value())
        if function is None:
            return
        args = (*value.operands, *op.args)
        call = direct_call(function, value.type_args.data, args, op.result.type)
        call.attributes = dict(op.attributes)
        call.results[0].name_hint = op.result.name_hint
        rewriter.replace(op, call)
        if not value.result.uses:
            rewriter.erase(value)


def call_directly(module: ModuleOp) -> bool:
    """
    Make calls of known functions direct, and remove the function values that this leaves.

    Return whether there were any.
    """
    calls = [
        op
        for op in walk(module)
        if isinstance(op, relay.CallOp) and known_function(op.callee) is not None
    ]
    if calls:
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
        apply_patterns(module, CallDirectly(functions), only=calls)
    return bool(calls)
