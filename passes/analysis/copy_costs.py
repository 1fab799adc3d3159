"""What it costs to use a value through a copy of it."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, TupleType
from xdsl.ir import Attribute, SSAValue

from ...dialects.interfaces import DestinationPassing
from ...dialects.tensors import as_tensor, element_size


def bytes_copied(value: SSAValue) -> int | None:
    """
    What a copy of `value` moves, dynamic dims counted as 1; None when it cannot be copied.

    Where something is written into a tensor, a copy of it would be of no use.
    """
    return None if is_destination(value) else _bytes_of(value.type)


def is_destination(value: SSAValue) -> bool:
    """Whether an op writes into `value`."""
    for use in value.uses:
        user = use.operation
        outs = len(user.operands) - len(user.results)
        if use.index >= outs and user.has_trait(DestinationPassing, value_if_unregistered=False):
            return True
    return False


def _bytes_of(type: Attribute) -> int | None:
    if (tensor := as_tensor(type)) is not None:
        dims = (dim for dim in tensor.get_shape() if dim != DYNAMIC_INDEX)
        return prod(dims) * element_size(tensor.element_type)
    if isinstance(type, TupleType):
        parts = [_bytes_of(t) for t in type.types]
        return sum(p for p in parts if p is not None) if None not in parts else None
    return None
