"""
Values that a user gives for inputs, as arrays of the inputs' types.

    fitted(16000, np.dtype(np.int64), ())          array(16000)
    fitted(1, np.dtype(np.float32), (2, 3))        2 x 3 ones, of 4 bytes in all

Values are not converted if that changes them: 1.5 is not an integer, 300 not a `uint8`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program.program import Array
from .input_bindings import Listed, Value, shape_text


def fitted(value: Value, dtype: np.dtype[Any], shape: Sequence[int | None]) -> Array:
    """
    Return `value` with this element type and shape, in which dims of None are those of `value`.

    Raises `ValueError` if it does not fit.
    """
    if isinstance(value, bool | int | float):
        if None in shape:
            raise ValueError(f"a number needs a static shape, but it has {shape_text(shape)}")
        sizes = [dim for dim in shape if dim is not None]
        return np.broadcast_to(_converted(np.asarray(value), dtype), tuple(sizes))
    array = as_array(value) if isinstance(value, Listed) else np.asarray(value)
    fits = len(shape) == array.ndim and all(
        dim in (None, size) for dim, size in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"it must have shape {shape_text(shape)}, but has {shape_text(array.shape)}"
        )
    return _converted(array, dtype)


def as_array(value: Listed) -> Array:
    """Return the elements of a list in an array of NumPy's choice of type."""
    return np.asarray(value.elements).reshape(value.shape)


def _bounded(array: Array, dtype: np.dtype[Any]) -> Array:
    """
    Return Python's numbers, some beyond 64 bits, as float64 if `dtype` is a type of floats.

    Raises `ValueError` for an integer that is not in the range of `dtype`.
    """
    numbers: list[object] = array.reshape(-1).tolist()
    if not all(isinstance(number, int | float) for number in numbers):
        return array
    lowest, highest = _range(dtype)
    for number in numbers:
        if isinstance(number, int) and not lowest <= number <= highest:
            raise ValueError(f"it must be {dtype}, which cannot represent {number}")
    return array.astype(np.float64) if dtype.kind == "f" else array


def _range(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the least and the greatest number that is converted to `dtype`."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind == "f":
        return -sys.float_info.max, sys.float_info.max
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def _converted(array: Array, dtype: np.dtype[Any]) -> Array:
    if array.dtype == dtype:
        return array
    if array.dtype == object:
        array = _bounded(array, dtype)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"it must be {dtype}, but has elements of {array.dtype}")
    with np.errstate(all="ignore"):
        made = array.astype(dtype)
        if dtype.kind == "f":
            lost = np.isinf(made) & np.isfinite(array)
        else:
            lost = made.astype(array.dtype) != array
            if array.dtype.kind != dtype.kind and {array.dtype.kind, dtype.kind} == {"i", "u"}:
                lost |= (array < 0) | (made < 0)
    if lost.any():
        raise ValueError(f"it must be {dtype}, which cannot represent {array[lost].flat[0]}")
    return made
