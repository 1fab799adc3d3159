"""The element types of the machine, by their names in a program."""

from typing import Any

import numpy as np

from ...operators.element_types import NUMBER_TYPES
from ..errors import MachineError

_TYPES: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in NUMBER_TYPES}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the name of `dtype` in a program; NumPy's name for unsupported types."""
    return _NAMES.get(dtype) or dtype.name


def element_type(name: str) -> np.dtype[Any]:
    """Return the NumPy type called `name`; raise `MachineError` if it is not supported."""
    found = _TYPES.get(name)
    if found is None:
        raise MachineError(f"unsupported element type {name} (supported: {', '.join(_TYPES)})")
    return found


def has_element_type(dtype: np.dtype[Any]) -> bool:
    """Test whether tensors can have elements of `dtype`: a supported type in native byte order."""
    return dtype in _NAMES
