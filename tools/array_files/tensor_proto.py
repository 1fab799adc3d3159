"""
Arrays in ONNX's files `.pb`, each a `TensorProto`, read without the package `onnx`.

Files are untrusted: the data must have exactly the size of the declared type and shape.
See https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, message TensorProto.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from ...operators.element_types import ONNX_DTYPES
from ...runtime.program.program import Array
from ...runtime.protobuf import fields, varints
from ..errors import FileError
from .array_input import open_file

_DIMS, _TYPE, _RAW, _NAME, _LOCATION = 1, 2, 9, 8, 14
_TYPED = {4: "<f4", 5: "", 7: "", 10: "<f8", 11: ""}
"""The fields of elements: the type of their bytes, "" for varints."""

_MAX_RANK = 32


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
    numbers: list[int] = []
    for each in fields(data):
        field, value = each.number, each.number_or_bytes(data)
        if field == _DIMS:
            dims += [value] if isinstance(value, int) else varints(value)
        elif field in (_TYPE, _LOCATION):
            if not isinstance(value, int):
                raise ValueError(f"field {field} is not a number")
            number, location = (value, location) if field == _TYPE else (number, value)
        elif field == _NAME and isinstance(value, memoryview):
            name = str(value, "utf-8")
        elif field in _TYPED and not _TYPED[field]:
            numbers += [value] if isinstance(value, int) else varints(value)
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
    return name, _array(np.dtype(ONNX_DTYPES[number]), dims, elements, numbers)


def _shown() -> Iterator[str]:
    return (f"{number} ({name})" for number, name in ONNX_DTYPES.items())


def _array(
    dtype: np.dtype[Any],
    dims: list[int],
    elements: list[tuple[int, memoryview]],
    numbers: list[int],
) -> Array:
    count = prod(dims)
    if numbers:
        signed = np.array(numbers, np.uint64).view(np.int64)
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
