"""
What a program says about dims that inference does not find.

    let %y: Tensor[(3, 4), float32] = @f(%x);          (@f gives a Tensor[(?, 4), float32])
    ->
    %y = relay.invoke @f<[]>(%x) : (…) -> tensor<3x4xf32>

The op that gives the value takes the declared dims over. A value that no op here gives (of a
parameter, or from around a branch) gets a `relay.reshape` to what is declared, which is a view;
a tuple is taken apart for that. Dims inside of functions, cells and data types stay as they were
found.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TupleType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.incomplete import refine
from ...dialects.relay.properties import ints
from ...dialects.relay.reshape import ReshapeOp
from ...dialects.relay.tuples import TupleGetItemOp, TupleOp
from ...dialects.tensors import Tensor, as_tensor
from ...dialects.xdsl_internals import set_type
from .writer import WaitingOp, Writer


def refined(writer: Writer, value: SSAValue, declared: Attribute, at: int) -> SSAValue:
    """`value` with all that `declared`, which agrees with its type, knows of dims besides."""
    solver = writer.solver
    if value.type is declared:
        return value
    given, declared = solver.resolved(value.type), solver.resolved(declared)
    if given == declared or (not isinstance(given, TupleType) and as_tensor(given) is None):
        return value
    if solver.first_unknown(given) is not None or solver.first_unknown(declared) is not None:
        return value
    type = refine(given, declared)
    if type is None or type == given or _takes_over(writer, value, type):
        return value
    return _viewed(writer, value, type, at)


def _takes_over(writer: Writer, value: SSAValue, type: Attribute) -> bool:
    """Let the op here that gives `value` give it as a `type`; whether that can be."""
    if not isinstance(value, OpResult) or value.op.parent is not writer.block:
        return False
    for operand in value.op.operands:
        set_type(operand, writer.solver.resolved(operand.type))
    return takes_over(value, type)


def takes_over(value: OpResult, type: Attribute) -> bool:
    """Let the op that gives `value` give it as a `type`, if its verifier lets it; whether so."""
    before = value.type
    set_type(value, type)
    if isinstance(value.op, WaitingOp | FuncCallOp):  # settled once all types are known
        return True
    try:
        value.op.verify_()
    except VerifyException:
        set_type(value, before)
        return False
    return True


def _viewed(writer: Writer, value: SSAValue, type: Attribute, at: int) -> SSAValue:
    """A view of `value`, which cannot be a `type` itself, as a `type`."""
    if value.type == type:
        return value
    tensor = as_tensor(type)
    if tensor is not None:
        return writer.value(view(value, tensor), at)
    if not isinstance(type, TupleType):
        return value
    fields: list[SSAValue] = []
    for i, part in enumerate(type.types):
        field = writer.value(TupleGetItemOp(value, i), at)
        fields.append(_viewed(writer, field, part, at))
    return writer.value(TupleOp(fields), at)


def view(value: SSAValue, type: Tensor) -> ReshapeOp:
    """`value` as a `type` of the same rank; dims that are not known are copied (0)."""
    shape: Sequence[int] = type.get_shape()
    dims = [0 if dim == DYNAMIC_INDEX else dim for dim in shape]
    return ReshapeOp.create(
        operands=[value], properties={"newshape": ints(dims)}, result_types=[type]
    )
