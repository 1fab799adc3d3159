"""
Calls of known functions, and casts of values to types that know other dims, as at calls.

    %f = relay.closure @scale(%k) : …
    %y = relay.call %f(%x) : (T) -> T      ->      %y = func.call @scale(%k, %x) : (S, T) -> T

    func.call @f(%x) : (tensor<3xf32>) -> …           @f takes a tensor<?xf32>
    ->
    %y = relay.reshape %x {newshape = array<i64: 0>} : (tensor<3xf32>) -> tensor<?xf32>
    func.call @f(%y) : (tensor<?xf32>) -> …
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import BoolAttr, FunctionType, ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import relay
from ...dialects.relay.reshape import ReshapeOp
from ...dialects.tensors import as_tensor
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


RECEIVERS = (func.CallOp, relay.RefCreateOp, relay.RefWriteOp)
"""The ops whose operands must have the type of a parameter, or of a cell's contents."""


def is_passed(value: SSAValue) -> bool:
    """Test whether one of `RECEIVERS` gets `value`, in a tuple or from another device too."""
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, RECEIVERS):
                return True
            if isinstance(user, relay.TupleOp | relay.OnDeviceOp | relay.DeviceCopyOp):
                result = user.results[0]
                if result not in seen:
                    seen.add(result)
                    pending.append(result)
    return False


def recast(value: SSAValue, type: Attribute) -> list[Operation]:
    """Create ops that make `value` one of `type`, which knows other dims; the last returns it."""
    if isinstance(type, TupleType):
        ops: list[Operation] = []
        fields: list[SSAValue] = []
        for i, field in enumerate(type.types):
            item = relay.TupleGetItemOp(value, i)
            ops.append(item)
            if item.result.type != field:
                ops += recast(item.result, field)
            fields.append(ops[-1].results[0])
        return [*ops, relay.TupleOp(fields)]
    tensor = as_tensor(type)
    if tensor is None:
        return []
    return [ReshapeOp.to(value, [0] * tensor.get_num_dims(), type, BoolAttr.from_bool(False))]


def cast_values(
    values: Sequence[SSAValue], types: Sequence[Attribute]
) -> tuple[list[SSAValue], list[Operation]]:
    """Return `values` as values of `types`, which differ in their dims, and the ops to insert."""
    casts: list[SSAValue] = []
    inserted: list[Operation] = []
    for value, type in zip(values, types, strict=True):
        ops = recast(value, type) if value.type != type else []
        inserted += ops
        casts.append(ops[-1].results[0] if ops else value)
    return casts, inserted
