"""DLPack's tensor in C, and NumPy arrays in the memory of one."""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any

import numpy as np

from ...operators.element_types import NUMBER_TYPES
from ..errors import MachineError
from ..program.dtypes import element_type
from ..program.program import Array

_TYPES = {(row.dlpack, max(row.bits, 8)): name for name, row in NUMBER_TYPES.items()}


class DLTensor(ctypes.Structure):
    """`DLTensor` of DLPack."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def array_in(tensor: Any) -> Array:
    """Return an array over the contiguous memory of a `DLTensor`, which must outlive it."""
    name = _TYPES.get((tensor.code, tensor.bits))
    if name is None or tensor.lanes != 1:
        raise MachineError(f"tensors of DLPack's type code {tensor.code} are not supported")
    dtype = element_type(name)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    size = prod(shape) * dtype.itemsize
    if not size:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * size).from_address(tensor.data + tensor.byte_offset)
    return np.frombuffer(memory, dtype).reshape(shape)
