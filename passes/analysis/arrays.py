"""Between dense attributes and NumPy arrays."""

from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ...dialects.dense import Dense, dense, elements
from ...dialects.tensors import Tensor, dtype_name
from ...runtime.memory.limits import MAX_RANK

Array: TypeAlias = npt.NDArray[Any]


def numpy_dtype(type: Tensor) -> np.dtype[Any] | None:
    """
    NumPy's dtype for `type`'s elements; None when it has none of its own (bf16, i4).

    A package may register one under that name, but what a pass gives must not depend on imports.
    """
    name = dtype_name(type.element_type)
    try:
        dtype = None if name is None else np.dtype(name)
    except TypeError:
        return None
    return dtype if dtype is not None and dtype.isbuiltin == 1 else None


def dense_of(array: Array, type: Tensor) -> Dense:
    """`array` as a dense attribute of `type` (its device left away); a splat is stored once."""
    if array.size > 1 and not any(array.strides):
        array = array[(0,) * array.ndim]
    return dense(type, np.ascontiguousarray(array, dtype=numpy_dtype(type)).tobytes())


def array_of(attr: Dense, dtype: np.dtype[Any] | None = None) -> Array | None:
    """The values of `attr`, read-only; None when NumPy has no such array."""
    type = cast(Tensor, attr.type)
    dtype, shape = dtype or numpy_dtype(type), type.get_shape()
    if dtype is None or len(shape) > MAX_RANK:
        return None
    flat = np.frombuffer(elements(attr), dtype)
    if flat.size == 1:  # a splat is stored once by our parser
        flat = np.broadcast_to(flat.reshape(()), shape)
    array = flat.reshape(shape)
    array.setflags(write=False)
    return array
