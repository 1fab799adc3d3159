"""
Conversion of dense constants to bytes and back: row-major, little endian, a boolean as 0 or 1.

    dense(tensor<2xi1>, b"\\x01\\x00")            dense<[true, false]> : tensor<2xi1>
    elements(dense<[true, false]>)              b"\\x01\\x00"

A dense attribute holds these bytes, except that a true boolean has all bits set. NumPy reads and
writes the same bytes, so code that does not compute needs no NumPy.
"""

from __future__ import annotations

import struct
from typing import Any, TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, IntegerAttr, i1
from xdsl.ir import Operation, SSAValue
from xdsl.traits import ConstantLike

from ..operators.element_types import NUMBER_TYPES
from .attributes import ELEMENT_TYPES
from .device import tensor_type, with_device
from .tensors import Tensor, as_tensor, dtype_name

Dense: TypeAlias = DenseIntOrFPElementsAttr[Any]

_CODES = {name: f"<{row.struct}" for name, row in NUMBER_TYPES.items()}
"""The `struct` format of an element of each dtype."""

_ALL_BITS = bytes([0, *[0xFF] * 255])
_ONE_BIT = bytes([0, *[1] * 255])


def dense(type: Tensor, data: bytes) -> Dense:
    """The constant of `type`, without its device, with these elements; one element is a splat."""
    if type.element_type == i1:
        data = data.translate(_ALL_BITS)
    return DenseIntOrFPElementsAttr(cast(Any, with_device(type, None)), BytesAttr(data))


def elements(value: Dense) -> bytes:
    """The elements of `value`; a splat, which our parser stores once, has one."""
    data = value.data.data
    return data.translate(_ONE_BIT) if value.get_element_type() == i1 else data


def scalar(value: float, dtype: str) -> Dense | None:
    """The constant `value` of rank 0; None for a dtype that `struct` cannot pack."""
    if dtype == "bfloat16":  # the upper half of a float32
        data = struct.pack("<f", value)[2:]
    elif dtype in _CODES:
        data = struct.pack(_CODES[dtype], value)
    else:
        return None
    return dense(tensor_type(ELEMENT_TYPES[dtype], []), data)


def numbers(value: Dense) -> list[float]:
    """
    The elements of `value`, integers as `int`; one if it is a splat.

    Empty for a dtype that `struct` cannot unpack.
    """
    type = as_tensor(value.type)
    assert type is not None, "a constant is a tensor"
    code = _CODES.get(dtype_name(type.element_type) or "")
    return [] if code is None else [n for (n,) in struct.iter_unpack(code, elements(value))]


def scalar_value(value: Dense) -> float | None:
    """The element of a constant of rank 0; None for a dtype that `struct` cannot unpack."""
    return next(iter(numbers(value)), None)


def integer(value: SSAValue) -> int | None:
    """The integer that `value` always is, if it is a constant or the sum of two."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    if isinstance(op, arith.AddiOp):
        parts = [integer(v) for v in op.operands if isinstance(v.owner, arith.ConstantOp)]
        return sum(part for part in parts if part is not None) if len(parts) == 2 else None
    return None


def constant_tensor(value: SSAValue) -> Dense | None:
    """The elements of `value` if it is a constant tensor."""
    op = value.owner
    if not isinstance(op, Operation) or not op.has_trait(ConstantLike):
        return None
    attr = op.properties.get("value")
    return cast(Dense, attr) if isinstance(attr, DenseIntOrFPElementsAttr) else None


def integers(value: Dense, count: int) -> list[int]:
    """The `count` elements of a constant of integers, of which a splat stores one."""
    values = [int(number) for number in numbers(value)]
    return values if len(values) == count else values[:1] * count
