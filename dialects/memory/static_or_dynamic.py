"""Static-or-dynamic values: an attribute if known at compile time, an operand otherwise."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, i64
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ...operators import storage_errors
from ..dense import integer
from ..tensors import as_tensor


def folded(static: IntegerAttr[I64] | None, dynamic: SSAValue | None) -> int | SSAValue:
    """Return the value: an integer if it is static, or always the same and at least 0."""
    if static is not None:
        return static.value.data
    assert dynamic is not None, "verified: static or dynamic"
    known = integer(dynamic)
    return dynamic if known is None or known < 0 else known


def exactly_one(what: str, static: object | None, dynamic: object | None) -> None:
    if static is None and dynamic is None:
        raise VerifyException(f"{what} is missing: give an attribute or an operand")
    if static is not None and dynamic is not None:
        raise VerifyException(f"{what} must be an attribute or an operand, but both are given")


def verify_alignment(alignment: IntegerAttr[I64]) -> int:
    """Return `alignment`, which must be a power of two."""
    bytes = alignment.value.data
    if bytes <= 0 or bytes & (bytes - 1):
        raise VerifyException(f"alignment must be a power of two, but is {bytes}")
    return bytes


def verify_size(size: IntegerAttr[I64] | None) -> None:
    """Check that a size, if static, is not negative."""
    if size is not None and size.value.data < 0:
        raise VerifyException(f"the size must be at least 0, but is {size.value.data}")


def verify_fits(what: str, bytes: int, offset: int, room: IntegerAttr[I64] | None) -> None:
    """Check that `bytes` at `offset` lie in a storage of `room` bytes, if that is static."""
    if room is not None and offset + bytes > room.value.data:
        raise VerifyException(storage_errors.outside_storage(what, bytes, offset, room.value.data))


def verify_shape(shape: SSAValue, rank: int) -> None:
    """Check that a shape operand has one i64 for each of `rank` dims."""
    type = as_tensor(shape.type)
    if type is None or type.element_type != i64 or type.get_shape() != (rank,):
        raise VerifyException(f"the shape must be a tensor<{rank}xi64>, but is {shape.type}")
