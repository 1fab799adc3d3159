"""
The values of ONNX names during conversion: SSA values or arrays.

Initializers, constants, and results computed from them and from static shapes stay arrays until an
operator needs them as tensors, so computations of shapes never become tensor programs.
"""

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute, SSAValue

from ...dialects.device import tensor_type
from ...dialects.tensors import Tensor, as_tensor, dtype_name

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_ELEMENT_TYPES: dict[str, Attribute] = {
    "bool": IntegerType(1),
    **{f"int{n}": IntegerType(n) for n in (8, 16, 32, 64)},
    **{f"uint{n}": IntegerType(n, Signedness.UNSIGNED) for n in (8, 16, 32, 64)},
    "float16": Float16Type(),
    "float32": Float32Type(),
    "float64": Float64Type(),
}

SUPPORTED_DTYPES = tuple(_ELEMENT_TYPES)
"""The dtypes that a model may use, by NumPy's names: those that NumPy itself computes with."""


@dataclass(eq=False)
class Constant:
    """
    A value known at compile time; `name` is its name in the side file.

    An array whose strides are all 0 is one repeated element and takes no memory.
    """

    name: str
    array: Array
    tensor: SSAValue | None = None
    """The array as a tensor, once an operator has needed it."""

    @property
    def is_splat(self) -> bool:
        """True if the array is stored as one repeated element."""
        return self.array.size != 1 and not any(self.array.strides)


Value: TypeAlias = SSAValue | Constant


def element_type(dtype: np.dtype[Any]) -> Attribute | None:
    """Return the element type for a NumPy dtype; None if there is none."""
    return _ELEMENT_TYPES.get(dtype.name)


def tensor_type_of(value: Value) -> Tensor:
    """Return the type of `value` as a tensor; its shape is static."""
    if isinstance(value, Constant):
        element = element_type(value.array.dtype)
        assert element is not None, f"no element type for {value.array.dtype}"
        return tensor_type(element, list(value.array.shape))
    type = as_tensor(value.type)
    assert type is not None, f"{value.type} is not a tensor"
    return type


def shape_of(value: Value) -> tuple[int, ...]:
    """Return the static shape of `value`."""
    if isinstance(value, Constant):
        return value.array.shape
    return tuple(tensor_type_of(value).get_shape())


def dtype_of(value: Value) -> np.dtype[Any]:
    """Return the NumPy dtype of `value`'s elements."""
    if isinstance(value, Constant):
        return value.array.dtype
    name = dtype_name(tensor_type_of(value).element_type)
    assert name is not None, f"{value.type} has no NumPy dtype"
    return np.dtype(name)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether `dtype` is a floating-point dtype."""
    return dtype.kind == "f"


def value_name(name: str) -> str | None:
    """Return `name` as a readable SSA name, or None if no character is left."""
    text = re.sub(r"[^\w$.-]", "_", name, flags=re.ASCII).lstrip("0123456789")
    # the printer treats a trailing `_1` as a number of its own
    text = re.sub(r"_(?=\d+$)", ".", text)
    return text or None
