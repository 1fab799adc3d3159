"""Tensor types: shape, dtype, size in bytes, and alignment (as in TVM's ManifestAlloc)."""

from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
    f32,
    f64,
)
from xdsl.ir import Attribute, SSAValue, TypeAttribute

from ..operators.element_types import ELEMENT_TABLE, ElementType
from ..operators.orders import MIN_ALIGNMENT as MIN_ALIGNMENT

Tensor: TypeAlias = TensorType[Attribute]
AnyInteger: TypeAlias = IntegerType[int, Signedness]


def as_tensor(type: Attribute) -> Tensor | None:
    """`type` if it is a ranked tensor type."""
    return cast(Tensor, type) if isinstance(type, TensorType) else None


def tensor_of(value: SSAValue) -> Tensor:
    """Return the type of a value that is known to be a tensor."""
    type = as_tensor(value.type)
    assert type is not None, "verified: a tensor"
    return type


FLOAT_TYPES: dict[str, TypeAttribute] = {
    float_type.name: float_type
    for float_type in (
        *(Float4E2M1FNType(), Float8E4M3FNType(), Float8E4M3FNUZType(), Float8E5M2Type()),
        *(Float8E5M2FNUZType(), Float8E8M0FNUType(), Float16Type(), BFloat16Type(), f32, f64),
    )
}
"""The float types that are dtypes, by their names in MLIR."""

_FLOATS: dict[type[Attribute], ElementType] = {
    type(FLOAT_TYPES[row.mlir]): row for row in ELEMENT_TABLE.values() if row.precision
}


def bits_of(element_type: Attribute) -> int | None:
    """The width of an element in bits (`index` has 64); None if the type is not a dtype."""
    float_type = _FLOATS.get(type(element_type))
    if float_type is not None:
        return float_type.bits
    if isinstance(element_type, IntegerType):
        return cast(AnyInteger, element_type).width.data
    return 64 if isinstance(element_type, IndexType) else None


def dtype_name(element_type: Attribute) -> str | None:
    """
    The NumPy name of an element type (`i1` is "bool", `index` "int64"); None if it is not a dtype.

    A sub-byte integer is named by its width ("int4") although NumPy has no such dtype.
    """
    if isinstance(element_type, IndexType):
        return "int64"
    if isinstance(element_type, IntegerType):
        element_type = cast(AnyInteger, element_type)
        width = element_type.width.data
        if width == 1:
            return "bool"
        unsigned = element_type.signedness.data == Signedness.UNSIGNED
        return f"{'u' if unsigned else ''}int{width}"
    float_type = _FLOATS.get(type(element_type))
    return None if float_type is None else float_type.dtype


def is_unsigned(element_type: Attribute) -> bool:
    """Test whether an element type holds unsigned integers; i1, a bool, counts as one."""
    if not isinstance(element_type, IntegerType):
        return False
    element_type = cast(AnyInteger, element_type)
    return element_type.signedness.data == Signedness.UNSIGNED or element_type.width.data == 1


def signless(element_type: Attribute) -> Attribute:
    """Return an element type without signedness."""
    if not isinstance(element_type, IntegerType):
        return element_type
    element_type = cast(AnyInteger, element_type)
    if element_type.signedness.data == Signedness.SIGNLESS:
        return element_type
    return IntegerType(element_type.width.data)


def element_size(element_type: Attribute) -> int:
    """The size of one element in bytes; a sub-byte element takes a whole byte."""
    bits = bits_of(element_type)
    assert bits is not None, f"{element_type} is not an element type with a size"
    return -(-bits // 8)


def storage_alignment(element_type: Attribute) -> int:
    """The alignment in bytes of a storage for elements of this type: at least 64."""
    bits = bits_of(element_type)
    assert bits is not None, f"{element_type} is not an element type with a size"
    return max(MIN_ALIGNMENT, bits // 8)


def is_static(type: Tensor) -> bool:
    return DYNAMIC_INDEX not in [dim.data for dim in type.shape.data]


def has_dynamic(type: Attribute) -> bool:
    """Test whether `type` is a tensor with an unknown dim."""
    tensor = as_tensor(type)
    return tensor is not None and not is_static(tensor)


def dynamic_axes(type: Attribute) -> list[int]:
    """Return the axes of a tensor whose dim is unknown."""
    tensor = as_tensor(type)
    dims = () if tensor is None else tensor.get_shape()
    return [axis for axis, dim in enumerate(dims) if dim == DYNAMIC_INDEX]


def static_size(type: Tensor) -> int | None:
    """The size in bytes of a tensor: elements times `element_size`; None if a dim is dynamic."""
    dims = [dim.data for dim in type.shape.data]
    return None if DYNAMIC_INDEX in dims else prod(dims) * element_size(type.element_type)


def tensor_size(type: Tensor) -> int:
    """The size in bytes of a tensor of static shape."""
    size = static_size(type)
    assert size is not None, f"{type} has no static size"
    return size
