"""
TVM's saved arrays (the entries of `b64ndarrays`) as dense constants.

Little endian: u64 magic, u64 0, i32 device type and id, i32 rank, u8 element kind (0 int, 1 uint,
2 float, 4 bfloat), u8 bits, u16 lanes, i64 dims, i64 number of bytes that follow, the elements.
"""

from __future__ import annotations

import binascii
import struct
from collections.abc import Sequence
from math import prod

from xdsl.ir import Attribute

from ....dialects import dense
from ....dialects.attributes import ELEMENT_TYPES
from ....dialects.device import tensor_type
from ....dialects.tensors import element_size
from ....operators.element_types import ELEMENT_TABLE

MAGIC = 0xDD5E40F096B4A13F
_HEAD = struct.Struct("<QQiiiBBH")
_KINDS = {
    row.dlpack: dtype.rstrip("0123456789")
    for dtype, row in ELEMENT_TABLE.items()
    if dtype != "bool"
}
MAX_RANK = 64


class ArrayError(Exception):
    """An array is damaged, or its elements are of an unsupported kind."""


def element_type_of(dtype: str) -> Attribute | None:
    """Return the element type of a dtype in TVM's spelling, or None if there is none."""
    return ELEMENT_TYPES.get("bool" if dtype in ("uint1", "int1") else dtype)


def constant(dtype: str, shape: tuple[int, ...], data: bytes) -> dense.Dense:
    """
    Build a constant from elements in row-major order, little endian; booleans take a byte each.

    Raises `ArrayError` for an unknown dtype or a wrong number of bytes.
    """
    element = element_type_of(dtype)
    if element is None:
        raise ArrayError(f"elements of dtype {dtype} are not supported")
    wanted = prod(shape) * element_size(element)
    if len(data) != wanted:
        raise ArrayError(
            f"{dtype} elements of shape {list(shape)} need {wanted} bytes, but got {len(data)}"
        )
    return dense.dense(tensor_type(element, list(shape)), data)


def decode(text: str) -> dense.Dense:
    """Decode an array in base64; raises `ArrayError` when it is damaged."""
    try:
        blob = binascii.a2b_base64(text.encode("ascii"))
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ArrayError(f"an array is not valid base64: {error}") from None
    if len(blob) < _HEAD.size:
        raise ArrayError(
            f"an array needs a header of {_HEAD.size} bytes, but has {len(blob)} bytes"
        )
    magic, _, _, _, rank, kind, bits, lanes = _HEAD.unpack_from(blob)
    if magic != MAGIC:
        raise ArrayError(f"an array must start with {MAGIC:#x}, but starts with {magic:#x}")
    if not 0 <= rank <= MAX_RANK:
        raise ArrayError(f"the rank of an array must be in [0, {MAX_RANK}], but is {rank}")
    if kind not in _KINDS or lanes != 1:
        raise ArrayError(
            f"an array has {lanes} lanes of elements of kind {kind}; supported: 1 lane of int, "
            "uint, float or bfloat"
        )
    start = _HEAD.size + 8 * (rank + 1)
    if len(blob) < start:
        raise ArrayError(f"an array of rank {rank} ends after {len(blob)} bytes")
    *dims, size = struct.unpack_from(f"<{rank + 1}q", blob, _HEAD.size)
    if any(dim < 0 for dim in dims):
        raise ArrayError(f"the dims of an array must be at least 0, but are {dims}")
    if size != len(blob) - start:
        raise ArrayError(f"an array declares {size} bytes, but {len(blob) - start} follow")
    return constant(f"{_KINDS[kind]}{bits}", tuple(dims), blob[start:])


def encode(value: dense.Dense, dtype: str, shape: Sequence[int]) -> str:
    """Encode a tensor in base64; a bool has one bit, saved as a byte."""
    data, row = dense.elements(value), ELEMENT_TABLE[dtype]
    size = prod(shape) * element_size(ELEMENT_TYPES[dtype])
    if 0 < len(data) < size:  # a splat
        data *= size // len(data)
    kind, bits = (1, 1) if dtype == "bool" else (row.dlpack, row.bits)
    head = _HEAD.pack(MAGIC, 0, 1, 0, len(shape), kind, bits, 1)
    dims = struct.pack(f"<{len(shape) + 1}q", *shape, len(data))
    return binascii.b2a_base64(head + dims + data, newline=False).decode("ascii")
