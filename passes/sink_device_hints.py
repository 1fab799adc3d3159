"""
Hint the fields of a tuple that are used, not the tuple.

    %1 = relay.on_device %0, #cpu0 : (tuple<T, U>) -> tuple<T, U>
    %2 = relay.tuple_get_item %1[0] : (tuple<T, U>) -> T
    ->
    %1 = relay.tuple_get_item %0[0] : (tuple<T, U>) -> T
    %2 = relay.on_device %1, #cpu0 : (T) -> T

If the hint becomes a copy, only these fields are copied. A hint that constrains its result stays
where it is. (TVM: the first phase of PlanDevices.) `relay` level, before devices are assigned: the
hint may decide differently in its new place.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import relay
from ..dialects.xdsl_extras.walking import ops_of
from .support.changes import LevelPass
from .support.rewriting import apply_patterns
from .support.walk import outside_primitives


class HintAfterProjection(RewritePattern):
    """Replace the projection of a hinted tuple by the hint of a projection."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.TupleGetItemOp, rewriter: PatternRewriter, /) -> None:
        hint = op.tuple.owner
        if not isinstance(hint, relay.OnDeviceOp) or hint.constrain_result:
            return
        if not isinstance(hint.value.type, TupleType):
            return  # incomplete
        item = relay.TupleGetItemOp(hint.value, op.index.value.data)
        sunk = relay.OnDeviceOp(item.result, hint.device, hint.constrain_body)
        rewriter.replace(op, [item, sunk], [sunk.result])
        if not hint.result.uses:
            rewriter.erase(hint)


class SinkDeviceHintsPass(LevelPass):
    name = "sink-device-hints"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        projections = ops_of(outside_primitives(op), relay.TupleGetItemOp)
        apply_patterns(op, HintAfterProjection(), only=projections)
