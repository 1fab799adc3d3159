"""
ONNX tensors as NumPy arrays, also of files beside the model, as models of more than 2 GB have them.

The files are mapped into memory: their bytes are read when they are used. A model is not trusted:
it names only regular files in its own folder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from ....operators.element_types import ELEMENT_TABLE, ONNX_DTYPES
from ....runtime.errors import MachineError
from ....runtime.files import inside, mapped
from ....runtime.memory.limits import MAX_RANK
from ..convert.onnx_values import SUPPORTED_DTYPES, Array
from ..errors import OnnxError
from .wire import Malformed, decoded


@dataclass(frozen=True)
class ExternalData:
    """
    The files in `folder`, that of the model; None if it did not come from a file.

    Further ones are in memory, by their location; those `encoded` have varints.
    """

    folder: Path | None = None
    files: dict[str, memoryview] = field(default_factory=dict[str, memoryview])
    encoded: dict[str, memoryview] = field(default_factory=dict[str, memoryview])

    def bytes_of(self, tensor: TensorProto, size: int, width: int) -> memoryview:
        """
        Return the `size` bytes of `tensor`, whose elements are of `width` bytes.

        Raises `OnnxError` if it has others, or none.
        """
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        start, length = _number(entries, "offset", 0), _number(entries, "length", size)
        if location in self.encoded:
            data = self.encoded[location][start : start + length]
            try:
                return decoded(data, size // width, width).data.cast("B")
            except Malformed as error:
                raise OnnxError(f"its data are damaged: {error}") from None
        data = self._file(location)
        if length != size:
            raise OnnxError(f'it needs {size} bytes, but has {length} in the file "{location}"')
        if start + size > len(data):
            raise OnnxError(
                f'its bytes {start} to {start + size} are not in the file "{location}" of '
                f"{len(data)} bytes"
            )
        return data[start : start + size]

    def _file(self, location: str) -> memoryview:
        if location not in self.files:
            self.files[location] = self._mapped(location)
        return self.files[location]

    def _mapped(self, location: str) -> memoryview:
        if self.folder is None:
            raise OnnxError(
                f'its data are in the file "{location}" beside the model; supported then: a model '
                "that is given as a file"
            )
        try:
            path = inside(self.folder, location)
        except ValueError as error:
            raise OnnxError(f"the location of its data is not a path: {error}") from None
        if path is None:
            raise OnnxError(
                f'its data are in "{location}"; supported: files in the model\'s folder'
            )
        try:
            return mapped(path)
        except MachineError as error:
            raise OnnxError(f"its data are in another file: {error}") from None


def _number(entries: dict[str, str], name: str, default: int) -> int:
    text = entries.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise OnnxError(f'the {name} of its data is "{text}"; supported: a whole number')
    return int(text)


def dtype_of_number(number: int) -> np.dtype[Any]:
    """Return the NumPy dtype for ONNX's number of an element type."""
    if ONNX_DTYPES.get(number) not in SUPPORTED_DTYPES:
        names = ", ".join(SUPPORTED_DTYPES)
        raise OnnxError(f"dtype {element_name(number)} is not supported; supported: {names}")
    return np.dtype(ONNX_DTYPES[number])


def element_name(number: int) -> str:
    """Return ONNX's name for its number of an element type."""
    try:
        return TensorProto.DataType.Name(number).lower()
    except ValueError:
        return f"number {number}"


def array_of(tensor: TensorProto, external: ExternalData | None = None) -> Array:
    """Return the array in `tensor`; a view of a file, if its data are `external`."""
    dtype = dtype_of_number(tensor.data_type)
    dims = list(tensor.dims)
    if len(dims) > MAX_RANK:
        raise OnnxError(f"its shape has rank {len(dims)}, above {MAX_RANK}")
    if any(d < 0 for d in dims):
        raise OnnxError(f"the shape {dims} has a negative dim")
    size = prod(dims) * dtype.itemsize
    if prod(dim for dim in dims if dim) * dtype.itemsize >= 2**63:
        raise OnnxError(f"a tensor of shape {dims} does not fit any memory")
    if ELEMENT_TABLE[dtype.name].bits < 8 and dtype != np.bool_:
        return _packed(tensor, dtype, dims, external)
    if tensor.data_location == TensorProto.EXTERNAL:
        return _array(
            (external or ExternalData()).bytes_of(tensor, size, dtype.itemsize), dtype, dims
        )
    if tensor.HasField("raw_data"):
        raw = tensor.raw_data  # each access copies it
        if len(raw) != size:
            raise OnnxError(f"{dtype.name} of shape {dims} needs {size} bytes, but got {len(raw)}")
        return _array(memoryview(raw), dtype, dims)
    return _read(tensor, dtype, dims)


def _read(tensor: TensorProto, dtype: np.dtype[Any], dims: list[int]) -> Array:
    """Return the array that the package `onnx` reads."""
    try:
        array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError) as error:
        raise OnnxError(f"the data does not fit {dtype.name} of shape {dims}: {error}") from None
    return np.asarray(array, dtype)


def _packed(
    tensor: TensorProto, dtype: np.dtype[Any], dims: list[int], external: ExternalData | None
) -> Array:
    """Return an array of elements that share bytes."""
    if tensor.data_location == TensorProto.EXTERNAL:
        size = -(-prod(dims) * ELEMENT_TABLE[dtype.name].bits // 8)
        raw = bytes((external or ExternalData()).bytes_of(tensor, size, 1))
        tensor = TensorProto(data_type=tensor.data_type, dims=dims, raw_data=raw)
    return _read(tensor, dtype, dims)


def _array(data: memoryview, dtype: np.dtype[Any], dims: list[int]) -> Array:
    if dtype == np.bool_:
        return (np.frombuffer(data, np.uint8) != 0).reshape(dims)
    return np.frombuffer(data, dtype.newbyteorder("<")).reshape(dims).astype(dtype, copy=False)
