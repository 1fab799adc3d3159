"""The element types that the machine has, by their names in a program."""

from typing import Any

import numpy as np

from .errors import MachineError

_TYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(name)
    for name in (
        *("bool", "float16", "float32", "float64"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}


def type_name(dtype: np.dtype[Any]) -> str:
    """The name of `dtype` in a program; NumPy's for what the machine does not have."""
    return _NAMES.get(dtype) or dtype.name


def element_type(name: str) -> np.dtype[Any]:
    """NumPy's element type of that name; `MachineError` when the machine has none such."""
    found = _TYPES.get(name)
    if found is None:
        raise MachineError(f"element type {name} is not supported; the machine has {list(_TYPES)}")
    return found


def has_element_type(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of `dtype` can be tensors of the machine: a known type, native bytes."""
    return dtype in _NAMES
