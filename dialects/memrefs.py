"""Memrefs: the bytes of their elements, as MLIR lays them out in memory."""

from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ComplexType,
    IndexType,
    IntAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from .tensors import bits_of

MemRef: TypeAlias = MemRefType[Attribute]


def as_memref(type: Attribute) -> MemRef | None:
    """`type` if it is a ranked memref type."""
    return cast(MemRef, type) if isinstance(type, MemRefType) else None


def element_bytes(type: Attribute) -> int | None:
    """The bytes from one element of a memref to the next; None if they are not known here."""
    if isinstance(type, ComplexType):
        part = element_bytes(cast("ComplexType[Attribute]", type).element_type)  # pyright: ignore
        return None if part is None else 2 * part
    if isinstance(type, VectorType):
        vector = cast("VectorType[Attribute]", type)
        bits = bits_of(vector.element_type)
        count = prod(vector.get_shape())
        if bits is None or vector.get_num_scalable_dims():
            return None
        return 1 << (-(-bits * count // 8) - 1).bit_length()
    bits = bits_of(type)
    if bits is None or (isinstance(type, IntegerType) and bits > 64):
        return None
    return 8 if isinstance(type, IndexType) else 1 << (-(-bits // 8) - 1).bit_length()


def strides_of(type: MemRef) -> tuple[tuple[int, ...], int] | None:
    """The strides and offset, in elements, of a memref with a static strided layout."""
    layout = type.layout
    if not isinstance(layout, StridedLayoutAttr):
        return None
    strides = tuple(s.data for s in layout.strides.data if isinstance(s, IntAttr))
    offset = layout.offset.data if isinstance(layout.offset, IntAttr) else 0
    is_static = len(strides) == len(layout.strides.data) and DYNAMIC_INDEX not in type.get_shape()
    if not is_static or min((*strides, offset), default=0) < 0:
        return None
    return strides, offset


def is_identity(type: MemRef) -> bool:
    """Test whether the elements of a memref are one after the other, in row-major order."""
    layout = type.layout
    if isinstance(layout, AffineMapAttr):
        return layout.data == AffineMap.identity(layout.data.num_dims)
    return isinstance(layout, NoneAttr)


def buffer_size(type: MemRef) -> int | None:
    """
    The bytes of a memref, times its dynamic dims; None if its elements or layout are unusual.
    """
    bytes, shape = element_bytes(type.element_type), type.get_shape()
    if bytes is None:
        return None
    if is_identity(type):
        return bytes * prod(dim for dim in shape if dim != DYNAMIC_INDEX)
    strided = strides_of(type)
    if strided is None:
        return None
    strides, offset = strided
    if 0 in shape:
        return bytes * offset
    last = sum((dim - 1) * stride for dim, stride in zip(shape, strides, strict=True))
    return bytes * (offset + last + 1)
