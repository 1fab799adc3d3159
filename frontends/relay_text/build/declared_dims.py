"""
Refine types by declared dims that inference does not find.

    let %y: Tensor[(3, 4), float32] = @f(%x);          (@f returns a Tensor[(?, 4), float32])
    ->
    %y = relay.invoke @f<[]>(%x) : (…) -> tensor<3x4xf32>

The defining op adopts the declared dims. A value that no op of the block defines (a parameter, or
a value from outside a branch) is viewed as the declared type by a `relay.reshape`, a tuple field
by field. Dims inside functions, cells and data types keep their inferred form.
"""

from __future__ import annotations

from xdsl.dialects.builtin import TupleType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.relay.incomplete import refine
from ....dialects.tensors import as_tensor
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ....passes.functions.calls import recast
from .build_context import Context, DeferredOp


def has_dims(type: Attribute) -> bool:
    """Return whether values of `type`, a tensor or tuple, can be viewed as others of known dims."""
    return isinstance(type, TupleType) or as_tensor(type) is not None


def refine_dims(context: Context, value: SSAValue, declared: Attribute, at: int) -> SSAValue:
    """
    Return `value` with all dims that `declared`, which agrees with its type, knows in addition.
    """
    types = context.types
    if value.type is declared:
        return value
    given, declared = types.resolved(value.type), types.resolved(declared)
    if given == declared or not has_dims(given):
        return value
    if types.first_unknown(given) is not None or types.first_unknown(declared) is not None:
        return value
    type = refine(given, declared)
    if type is None or type == given or _retype_here(context, value, type):
        return value
    for op in (ops := recast(value, type)):
        context.add(op, at)
    return ops[-1].results[0] if ops else value


def _retype_here(context: Context, value: SSAValue, type: Attribute) -> bool:
    """Retype `value` if an op of the current block defines it; return whether that succeeded."""
    if not isinstance(value, OpResult) or value.op.parent is not context.block:
        return False
    for operand in value.op.operands:
        set_type(operand, context.types.resolved(operand.type))
    return try_retype(value, type)


def try_retype(value: OpResult, type: Attribute) -> bool:
    """Retype `value` to `type` if its defining op still verifies; return whether it did."""
    before = value.type
    set_type(value, type)
    if isinstance(value.op, DeferredOp | FuncCallOp):  # settled once all types are known
        return True
    try:
        value.op.verify_()
    except VerifyException:
        set_type(value, before)
        return False
    return True
