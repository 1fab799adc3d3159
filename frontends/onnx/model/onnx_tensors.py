"""ONNX tensors as NumPy arrays."""

from math import prod
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from ....operators.element_types import ELEMENT_TABLE, ONNX_DTYPES
from ..convert.onnx_values import SUPPORTED_DTYPES, Array
from ..errors import OnnxError
from .external import ExternalData


def dtype_of_number(number: int) -> np.dtype[Any]:
    """Return the NumPy dtype for ONNX's number of an element type."""
    if ONNX_DTYPES.get(number) not in SUPPORTED_DTYPES:
        known = ", ".join(SUPPORTED_DTYPES)
        raise OnnxError(f"dtype {element_name(number)} is not supported; supported: {known}")
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
    """Return a view of `data`."""
    if dtype == np.bool_:
        return (np.frombuffer(data, np.uint8) != 0).reshape(dims)
    return np.frombuffer(data, dtype.newbyteorder("<")).reshape(dims).astype(dtype, copy=False)
