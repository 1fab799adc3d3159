"""
Casts of values to types that know other dims, as at calls.

    func.call @f(%x) : (tensor<3xf32>) -> …           @f takes a tensor<?xf32>
    ->
    %y = relay.reshape %x {newshape = array<i64: 0>} : (tensor<3xf32>) -> tensor<?xf32>
    func.call @f(%y) : (tensor<?xf32>) -> …
"""

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import BoolAttr, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import relay
from ...dialects.relay.reshape import ReshapeOp
from ...dialects.tensors import as_tensor

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
    made: list[Operation] = []
    for value, type in zip(values, types, strict=True):
        ops = recast(value, type) if value.type != type else []
        made += ops
        casts.append(ops[-1].results[0] if ops else value)
    return casts, made
