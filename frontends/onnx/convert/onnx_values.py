"""
The values of ONNX names during conversion: SSA values or arrays.

Initializers, constants, and results computed from them and from static shapes stay arrays until an
operator needs them as tensors, so computations of shapes never become tensor programs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue

from ....dialects.attributes import ELEMENT_TYPES
from ....dialects.device import tensor_type
from ....dialects.tensors import Tensor, as_tensor, dtype_name, is_static
from ....operators.element_types import ELEMENT_TABLE, ElementKind

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def _has_dtype(name: str) -> bool:
    try:
        return np.dtype(name).name == name
    except TypeError:
        return False


SUPPORTED_DTYPES = tuple(filter(_has_dtype, ELEMENT_TABLE))
"""The dtypes that a model may use, by name: NumPy's, and those of the `ml_dtypes` of `onnx`."""


@dataclass(eq=False)
class Constant:
    """
    A value known at compile time; `name` is its name in the side file.

    An array whose strides are all 0 is one repeated element and takes no memory.
    """

    name: str
    array: Array

    @property
    def is_splat(self) -> bool:
        """True if the array is stored as one repeated element."""
        return self.array.size != 1 and not any(self.array.strides)


Value: TypeAlias = SSAValue | Constant


@cache
def element_type(dtype: np.dtype[Any]) -> Attribute | None:
    """Return the element type for a NumPy dtype; None if there is none."""
    return ELEMENT_TYPES.get(dtype.name)


@cache
def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype(name)


@lru_cache(2**10)
def _type_of(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Tensor:
    element = element_type(dtype)
    assert element is not None, f"no element type for {dtype}"
    return tensor_type(element, list(shape))


@dataclass(frozen=True)
class DimOf:
    """Dim `axis` of `value`, known when the program runs."""

    value: SSAValue
    axis: int


Dim: TypeAlias = int | DimOf


class DynamicShape(Exception):
    """A conversion needs all dims of a value whose shape is not static."""

    def __init__(self, value: SSAValue):
        super().__init__(
            f"an operand of type {value.type} has dynamic dims; supported: static shapes"
        )
        self.value = value


def tensor_type_of(value: Value) -> Tensor:
    """Return the type of `value` as a tensor."""
    if isinstance(value, Constant):
        return _type_of(value.array.dtype, value.array.shape)
    type = as_tensor(value.type)
    assert type is not None, f"{value.type} is not a tensor"
    return type


def shape_of(value: Value) -> tuple[int, ...]:
    """Return the shape of `value`; raise `DynamicShape` unless it is static."""
    if isinstance(value, Constant):
        return value.array.shape
    type = tensor_type_of(value)
    if not is_static(type):
        raise DynamicShape(value)
    return type.get_shape()


def has_static_shape(*values: Value) -> bool:
    """Test whether all dims of `values` are known."""
    return all(isinstance(v, Constant) or is_static(tensor_type_of(v)) for v in values)


def dims_of(value: Value) -> tuple[Dim, ...]:
    """Return the dims of `value`; a dynamic one refers to `value`."""
    if isinstance(value, Constant):
        return value.array.shape
    shape = tensor_type_of(value).get_shape()
    return tuple(DimOf(value, i) if n == DYNAMIC_INDEX else n for i, n in enumerate(shape))


def shape_text(dims: Sequence[Dim]) -> str:
    """Return dims for a message: [2, ?, 4]."""
    return f"[{', '.join(str(dim) if isinstance(dim, int) else '?' for dim in dims)}]"


def rank_of(value: Value) -> int:
    return len(dims_of(value))


def dtype_of(value: Value) -> np.dtype[Any]:
    """Return the NumPy dtype of `value`'s elements."""
    if isinstance(value, Constant):
        return value.array.dtype
    name = dtype_name(tensor_type_of(value).element_type)
    assert name is not None, f"{value.type} has no NumPy dtype"
    return _dtype(name)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether `dtype` is a floating-point dtype."""
    return ELEMENT_TABLE[dtype.name].kind is ElementKind.FLOAT
