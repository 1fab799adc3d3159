"""
Lowered calls give tensors; where the text uses the tuple of them, it is made.

    %t = relay.call_lowered @f(%x) : (T) -> tuple<T, T>        %a, %b = relay.call_lowered @f(%x)
    %b = relay.tuple_get_item %t[1]                      ->
    %n = relay.negative %b                                     %n = relay.negative %b
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relay.primitive import CallLoweredOp
from ...dialects.relay.tuples import TupleGetItemOp, TupleOp


def fold_projections(tuple: TupleOp) -> None:
    """Replace projections of a tuple by its fields."""
    for use in list(tuple.result.uses):
        item = use.operation
        if isinstance(item, TupleGetItemOp) and item.parent is not None:
            item.result.replace_all_uses_with(tuple.operands[item.index.value.data])
            item.parent.erase_op(item)


def with_results(op: CallLoweredOp, types: Sequence[Attribute]) -> CallLoweredOp:
    """Give the call one result per tensor; rebuild their tuple where it is used."""
    (result,) = op.results
    if [result.type] == list(types):
        return op
    block = op.parent
    assert block is not None
    made = CallLoweredOp.on(op.callee, op.operands, types, op.reshape_only)
    made.location = op.location
    ops: list[Operation] = [made]
    whole = _rebuilt(result.type, iter(made.results), ops)
    for each in ops[1:]:
        each.location = op.location
    block.insert_ops_before(ops, op)
    whole.name_hint = result.name_hint
    result.replace_all_uses_with(whole)
    block.erase_op(op)
    for each in reversed(ops[1:]):
        assert isinstance(each, TupleOp)
        fold_projections(each)
    for each in reversed(ops[1:]):
        if each.results[0].first_use is None:
            block.erase_op(each)
    return made


def _rebuilt(type: Attribute, leaves: Iterator[SSAValue], ops: list[Operation]) -> SSAValue:
    """Rebuild a value of `type` from `leaves`, appending the tuple ops to `ops`."""
    if not isinstance(type, TupleType):
        return next(leaves)
    made = TupleOp([_rebuilt(part, leaves, ops) for part in type.types])
    ops.append(made)
    return made.result
