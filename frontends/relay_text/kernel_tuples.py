"""
Lowered calls give tensors; where the text uses the tuple of them, it is made.

    %t = relay.call_lowered @f(%x) : (T) -> tuple<T, T>        %a, %b = relay.call_lowered @f(%x)
    %b = relay.tuple_get_item %t[1]                      ->
    %n = relay.negative %b                                     %n = relay.negative %b
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from ...dialects.relay.primitive import CallLoweredOp
from ...dialects.relay.tuples import TupleGetItemOp, TupleOp, rebuild


def fold_projections(tuple: TupleOp) -> None:
    """Let the fields of a tuple be used instead of projections of it."""
    for use in list(tuple.result.uses):
        item = use.operation
        if isinstance(item, TupleGetItemOp) and item.parent is not None:
            item.result.replace_all_uses_with(tuple.operands[item.index.value.data])
            item.parent.erase_op(item)


def with_results(op: CallLoweredOp, types: Sequence[Attribute]) -> CallLoweredOp:
    """The call with a result for each tensor; where their tuple is used, it is made."""
    (result,) = op.results
    if [result.type] == list(types):
        return op
    block = op.parent
    assert block is not None
    made = CallLoweredOp.on(op.callee, op.operands, types, op.reshape_only)
    made.location = op.location
    ops: list[Operation] = [made]
    whole = rebuild(result.type, iter(made.results), ops.append)
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
