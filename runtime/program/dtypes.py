"""The element types of the machine, by their names in a program."""

from importlib import import_module
from typing import Any

import numpy as np

from ...operators.element_types import ELEMENT_TABLE, NUMBER_TYPES
from ..errors import MachineError

_TYPES: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in NUMBER_TYPES}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_PACKAGES = {row.dtype: row.package for row in ELEMENT_TABLE.values() if row.package}
"""The types that are only stored, moved and converted, by the package that has them."""


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the name of `dtype` in a program; NumPy's name for unsupported types."""
    return _NAMES.get(dtype) or dtype.name


def element_type(name: str) -> np.dtype[Any]:
    """Return the NumPy type called `name`; raise `MachineError` if it is not supported."""
    dtype = _TYPES.get(name)
    if dtype is None and name in _PACKAGES:
        try:
            dtype = np.dtype(getattr(import_module(_PACKAGES[name]), name))
        except ImportError:
            raise MachineError(
                f"element type {name} needs the package {_PACKAGES[name]}: "
                "pip install 'xrelay[narrow]'"
            ) from None
        _TYPES[name], _NAMES[dtype] = dtype, name
    if dtype is None:
        raise MachineError(
            f"unsupported element type {name} (supported: {', '.join(NUMBER_TYPES)})"
        )
    return dtype


def has_element_type(dtype: np.dtype[Any]) -> bool:
    """Test whether tensors can have elements of `dtype`: a supported type in native byte order."""
    return dtype in _NAMES or (dtype.name in _PACKAGES and dtype == element_type(dtype.name))
