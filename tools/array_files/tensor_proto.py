"""
Arrays in ONNX's files `.pb`, each a `TensorProto`, read without the package `onnx`.

The format is protobuf's: fields of a number, a wire type, and a value. Files are untrusted: the
data must have exactly the size of the declared type and shape.
See https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, message TensorProto.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ...operators.element_types import ONNX_DTYPES
from ...runtime.program.program import Array
from ..errors import FileError
from .array_input import open_file

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DIMS, _TYPE, _RAW, _NAME, _LOCATION = 1, 2, 9, 8, 14
_TYPED = {4: "<f4", 5: "", 7: "", 10: "<f8", 11: ""}
"""The fields of elements: the type of their bytes, "" for varints."""

_MAX_RANK = 32

Field: TypeAlias = "tuple[int, int | memoryview]"


def read_tensor(path: str, data: memoryview | None = None) -> tuple[str, Array]:
    """
    Return name and array of the tensor in the file at `path`, whose bytes are `data` if it was read
    already.

    Raises `FileError` when it is not one.
    """
    try:
        if data is not None:
            return _tensor(data)
        with open_file(path) as file:
            return _tensor(memoryview(file.read()))
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error
    except MemoryError:
        raise FileError(path, "not enough memory for its tensor") from None
    except ValueError as error:
        raise FileError(path, f"not an ONNX tensor, or damaged: {error}") from None


def _tensor(data: memoryview) -> tuple[str, Array]:
    dims: list[int] = []
    number, name, location = 0, "", 0
    elements: list[tuple[int, memoryview]] = []
    varints: list[int] = []
    for field, value in _fields(data):
        if field == _DIMS:
            dims += [value] if isinstance(value, int) else _varints(value)
        elif field in (_TYPE, _LOCATION):
            if not isinstance(value, int):
                raise ValueError(f"field {field} is not a number")
            number, location = (value, location) if field == _TYPE else (number, value)
        elif field == _NAME and isinstance(value, memoryview):
            name = str(value, "utf-8")
        elif field in _TYPED and not _TYPED[field]:
            varints += [value] if isinstance(value, int) else _varints(value)
        elif field == _RAW or field in _TYPED:
            if isinstance(value, int):
                raise ValueError(f"field {field} has no bytes")
            elements.append((field, value))
    if location:
        raise ValueError("its data are in another file")
    if number not in ONNX_DTYPES:
        raise ValueError(f"its element type is number {number}; supported: {', '.join(_shown())}")
    if len(dims) > _MAX_RANK or any(dim >= 1 << 63 for dim in dims):
        raise ValueError("its shape is not one of an array")
    return name, _array(np.dtype(ONNX_DTYPES[number]), dims, elements, varints)


def _shown() -> Iterator[str]:
    return (f"{number} ({name})" for number, name in ONNX_DTYPES.items())


def _array(
    dtype: np.dtype[Any],
    dims: list[int],
    elements: list[tuple[int, memoryview]],
    varints: list[int],
) -> Array:
    count = prod(dims)
    if varints:
        signed = np.array(varints, np.uint64).view(np.int64)
        stored = dtype
        if dtype == np.float16:  # as the bits of a number
            stored = np.dtype(np.uint16)
        found = signed.view(np.uint64) if dtype == np.uint64 else signed
        array = found.astype(stored).view(dtype)
    else:
        field = elements[0][0] if elements else _RAW
        if any(other != field for other, _ in elements):
            raise ValueError("its elements are in several fields")
        of = dtype.newbyteorder("<") if field == _RAW else np.dtype(_TYPED[field])
        raw = bytearray(b"".join(part for _, part in elements))
        if len(raw) != count * of.itemsize:
            raise ValueError(
                f"{dtype} of shape {dims} needs {count * of.itemsize} bytes, but it has {len(raw)}"
            )
        if dtype == np.bool_:
            return (np.frombuffer(raw, np.uint8) != 0).reshape(dims)
        array = np.frombuffer(raw, of).astype(dtype, copy=False)
    if array.size != count:
        raise ValueError(f"shape {dims} needs {count} elements, but it has {array.size}")
    return array.reshape(dims)


def _fields(data: memoryview) -> Iterator[Field]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield field, value
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"byte {at} has an unknown wire type {wire}")
        if size > len(data) - at:
            raise ValueError("it ends too early")
        yield field, data[at : at + size]
        at += size


def _varints(data: memoryview) -> list[int]:
    found: list[int] = []
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        found.append(value)
    return found


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return the number at `at`, of 64 bits without a sign, and the position after it."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & ((1 << 64) - 1), at
    raise ValueError("it ends too early" if at >= len(data) else f"byte {at} is not of a number")
